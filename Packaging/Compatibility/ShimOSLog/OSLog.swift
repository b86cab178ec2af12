@_exported public import ShimOS
