package import BLEWire

/// The services of the Linux kernel that are needed to use Bluetooth adapters.
///
/// Tests use an implementation of their own.
package protocol AdapterKernel: Sendable {
    /// Opens a socket for the management protocol; each read or write transfers one packet.
    func openManagement() throws(SystemFailure) -> FileDescriptor

    /// Opens a socket that takes exclusive control of an adapter until the socket is closed.
    ///
    /// Each read or write transfers one HCI packet, starting with its H4 indicator. Requires CAP_NET_ADMIN and an
    /// adapter that is not in use.
    func openUserChannel(of index: AdapterIndex) throws(SystemFailure) -> FileDescriptor

    /// The numbers of all adapters, including those in exclusive use, in ascending order.
    var indexes: [AdapterIndex] { get }

    /// Returns the address of an adapter, even one in exclusive use; `nil` if the kernel does not report it.
    func address(of index: AdapterIndex) -> DeviceAddress?

    /// The radio switches (rfkill) of the machine.
    var switches: [RadioSwitch] { get }

    /// The programs that may be using adapters, as far as this program can see them.
    var holders: [AdapterHolder] { get }

    /// Returns the other programs that have the file at `path` open, as far as this program can see them.
    func users(of path: String) -> [RunningProgram]

    /// True if the kernel supports Bluetooth, even if this program's network namespace hides it.
    var hasBluetooth: Bool { get }

    /// True if this program has CAP_NET_ADMIN, which it needs to use an adapter exclusively.
    var isPrivileged: Bool { get }

    /// The path of this program, for messages about missing permissions.
    var program: String { get }
}

/// The failure of a system call.
package struct SystemFailure: Error, Equatable {
    /// The error number.
    package let errno: Int32
    package init(errno: Int32) { self.errno = errno }
}
