// Every other module needs this one, so that whoever builds the package elsewhere reads this sentence, and no other.
#if !os(Linux)
    #error(
        """
        corebluetooth-linux is for Linux; here there is Apple's framework: give the dependency \
        condition: .when(platforms: [.linux]).
        """
    )
#endif
