// Every other module depends on this one, so a build on another system shows this error and no others.
#if !os(Linux)
    #error(
        """
        corebluetooth-linux builds only on Linux; Apple's systems have Core Bluetooth. Restrict the dependency with \
        condition: .when(platforms: [.linux]).
        """
    )
#endif
