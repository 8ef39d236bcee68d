"""What every package may use: nothing here knows mathematics, search or Kedro.

::

    errors records types hits      the values that packages exchange
    files checksums writers        atomic writes, and damage found
    parameters progress formatting machines    settings, log lines, tables
    shards workers                 resumable work on several processes
    arrays ragged stemming lazy_imports        small tools
"""
