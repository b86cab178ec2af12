package import BLEWire

/// What of the Linux kernel is needed to use its Bluetooth adapters; a test puts another in its place.
package protocol AdapterKernel: Sendable {
    /// Opens a socket for the management protocol, each of whose packets is one read or write.
    func openManagement() throws(SystemFailure) -> Descriptor

    /// Takes an adapter from the kernel's own host and from all other programs, until the socket is closed.
    ///
    /// Each packet of HCI, its H4 indicator first, is one read or write. It needs CAP_NET_ADMIN and an adapter that
    /// nobody uses.
    func openUserChannel(of index: AdapterIndex) throws(SystemFailure) -> Descriptor

    /// The adapters that there are, also those that a program has for itself, lowest first.
    var indexes: [AdapterIndex] { get }

    /// The address of an adapter, also of one that a program has for itself; `nil` if the kernel does not tell.
    func address(of index: AdapterIndex) -> DeviceAddress?

    /// The switches of the machine's radios.
    var switches: [RadioSwitch] { get }

    /// The programs that have something to do with adapters, as far as this one may know.
    var holders: [AdapterHolder] { get }

    /// The programs, but for this one, that have the file at `path` open, as far as this one may know.
    func users(of path: String) -> [RunningProgram]

    /// Whether the kernel has Bluetooth at all, also where it does not show it to this program.
    var hasBluetooth: Bool { get }

    /// Whether this program has the right to take adapters: CAP_NET_ADMIN.
    var isPrivileged: Bool { get }

    /// Where the program lies that runs here, to name it to who may give it rights.
    var program: String { get }
}

/// What the system answered a call that failed.
package struct SystemFailure: Error, Equatable {
    /// The system's number.
    package let errno: Int32
    package init(errno: Int32) { self.errno = errno }
}
