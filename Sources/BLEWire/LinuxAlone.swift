// Every other module depends on this one, so a build on another system shows this error and no others.
#if !os(Linux)
    #error(
        """
        corebluetooth-linux is for Linux; here there is Apple's framework: give the dependency \
        condition: .when(platforms: [.linux]).
        """
    )
#endif
