"""The maker of the embedded sample: a small collection in ARQMath's file formats.

::

    areas/ defects/ topics/    what is written: Markdown with YAML front matter
      |  thread_files           one file read, with clear errors
      |  contents               all files gathered, references and grades checked
      v
    rows  <- collection, topics     numbered, dated (timeline), rendered (markdown_html)
      |  mathml, visual_ids         MathML of each formula, formulas that look alike
      v
    files <- xml_files, tables, collection_texts; written or compared by folder

``python -m tools.sample`` makes ``data/01_raw/sample``; ``tools/sample/README.md``
says how to add a thread.
"""
