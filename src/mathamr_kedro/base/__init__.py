"""What every package may use: nothing here knows mathematics, search or Kedro.

::

    errors records types hits      what is said, and what passes from hand to hand
    files checksums writers        atomic writes, and damage found
    parameters progress formatting machines    settings in, lines for people out
    shards workers                 large work, piece by piece, on several processes
    arrays ragged stemming lazy_imports        small tools
"""
