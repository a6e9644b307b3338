# SPDX-License-Identifier: MIT
# The extension makes regions faster. Without a C compiler or Python's headers, the module works without it.
import setuptools

setuptools.setup(ext_modules=[setuptools.Extension("tare._region", ["tare/_region.c"], optional=True)])
