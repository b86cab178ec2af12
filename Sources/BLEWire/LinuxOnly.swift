// Every other module depends on this one, so a build on another system shows this error and no others.
#if !os(Linux)
    #error(
        """
        corebluetooth-linux builds only on Linux; this platform has Apple's framework. Restrict the dependency with \
        condition: .when(platforms: [.linux]).
        """
    )
#endif
