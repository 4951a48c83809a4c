/* Its contents are the simulated chip's: the file that includes the driver. */
