"""Tables that do not fit, and arrays that live elsewhere: dask, zarr, HDF5, parquet, torch, cupy.

None of these libraries is imported unless such data come in.
"""
