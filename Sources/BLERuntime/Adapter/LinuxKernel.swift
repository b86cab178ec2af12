package import BLEWire
import Glibc
import LinuxCalls

/// The kernel of this machine, accessed through its Bluetooth sockets and virtual files.
package struct LinuxKernel: AdapterKernel {
    /// Constants of the kernel's Bluetooth interface that the C library lacks.
    private enum Constant {
        static let family: Int32 = 31
        static let hci: Int32 = 1
        static let userChannel: UInt16 = 1
        static let controlChannel: UInt16 = 3
        /// The `ioctl` request that reads the description of an adapter: `_IOR('H', 211, int)`.
        static let readDevice: UInt = 0x8004_48D3
        static let netAdmin: UInt64 = 1 << 12
    }

    /// An HCI socket address: family, adapter number, channel.
    private struct Address {
        var family: UInt16
        var device: UInt16
        var channel: UInt16
    }

    private let root: String

    /// Creates access to the kernel.
    ///
    /// Tests can set `root`, the directory that contains the kernel's virtual files.
    package init(root: String = "") { self.root = root }

    package func openManagement() throws(SystemFailure) -> FileDescriptor {
        try open(channel: Constant.controlChannel, of: .none)
    }

    package func openUserChannel(of index: AdapterIndex) throws(SystemFailure) -> FileDescriptor {
        try open(channel: Constant.userChannel, of: index)
    }

    private func open(channel: UInt16, of index: AdapterIndex) throws(SystemFailure) -> FileDescriptor {
        let descriptor = try socket()
        var address = Address(family: UInt16(Constant.family), device: index.wire, channel: channel)
        let size = socklen_t(MemoryLayout<Address>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor.raw, $0, size) }
        }
        guard result == 0 else { throw SystemFailure(errno: errno) }
        return descriptor
    }

    private func socket() throws(SystemFailure) -> FileDescriptor {
        let kind = Int32(SOCK_RAW.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let raw = Glibc.socket(Constant.family, kind, Constant.hci)
        guard raw >= 0 else { throw SystemFailure(errno: errno) }
        return FileDescriptor(raw)
    }

    package var indexes: [AdapterIndex] {
        SystemFile.names(in: root + "/sys/class/bluetooth").compactMap { AdapterIndex(name: $0) }.sorted()
    }

    package func address(of index: AdapterIndex) -> DeviceAddress? {
        guard let descriptor = try? socket() else { return nil }
        // struct hci_dev_info: number (2 octets), name (8), address (6), and more that is not needed here.
        var octets = [UInt8](repeating: 0, count: 256)
        octets[0] = UInt8(truncatingIfNeeded: index.wire)
        octets[1] = UInt8(truncatingIfNeeded: index.wire >> 8)
        guard control_device(descriptor.raw, Constant.readDevice, &octets) == 0
        else { return nil }
        let value = octets[10..<16].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return DeviceAddress(value, .public)
    }

    package var switches: [RadioSwitch] { RadioSwitch.all(below: root) }

    package var holders: [AdapterHolder] { AdapterHolder.all(below: root, but: getpid()) }

    package func users(of path: String) -> [RunningProgram] {
        let target = SystemFile.resolved(path)
        return RunningProgram.all(below: root, but: getpid()) { $0 == target }
    }

    package var hasBluetooth: Bool { SystemFile.names(in: root + "/sys/module").contains("bluetooth") }

    package var isPrivileged: Bool {
        let lines = SystemFile.text(of: root + "/proc/self/status").split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("CapEff:") }),
            let digits = line.split(whereSeparator: { $0 == "\t" || $0 == " " }).last,
            let rights = UInt64(digits, radix: 16)
        else { return false }
        return rights & Constant.netAdmin != 0
    }

    package var program: String { SystemFile.target(of: root + "/proc/self/exe") ?? "PROGRAM" }
}
