"""Files: mapped or unpacked when read, replaced atomically when written."""
