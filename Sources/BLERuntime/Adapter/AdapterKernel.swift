package import BLEWire

/// The parts of the Linux kernel that are needed to use Bluetooth adapters.
///
/// Tests replace it.
package protocol AdapterKernel: Sendable {
    /// Opens a socket for the management protocol, with one packet per read or write.
    func openManagement() throws(SystemFailure) -> FileDescriptor

    /// Takes exclusive use of an adapter until the socket is closed.
    ///
    /// Each read or write is one HCI packet, starting with its H4 indicator. Requires CAP_NET_ADMIN and an adapter that
    /// is not in use.
    func openUserChannel(of index: AdapterIndex) throws(SystemFailure) -> FileDescriptor

    /// All adapters, including those in exclusive use, lowest first.
    var indexes: [AdapterIndex] { get }

    /// Returns the address of an adapter, even one in exclusive use; `nil` if the kernel does not report it.
    func address(of index: AdapterIndex) -> DeviceAddress?

    /// The radio switches (rfkill) of the machine.
    var switches: [RadioSwitch] { get }

    /// The programs that use adapters, as far as this program can see them.
    var holders: [AdapterHolder] { get }

    /// Returns the other programs that have the file at `path` open, as far as this program can see them.
    func users(of path: String) -> [RunningProgram]

    /// True if the kernel supports Bluetooth, even if it hides it from this program.
    var hasBluetooth: Bool { get }

    /// True if this program may take adapters: CAP_NET_ADMIN.
    var isPrivileged: Bool { get }

    /// The path of this program, for messages about its rights.
    var program: String { get }
}

/// The failure of a system call.
package struct SystemFailure: Error, Equatable {
    /// The error number.
    package let errno: Int32
    package init(errno: Int32) { self.errno = errno }
}
