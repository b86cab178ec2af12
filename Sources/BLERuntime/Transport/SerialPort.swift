import Glibc
import LinuxCalls

/// A serial port with a controller, such as a board with HCI over UART or USB.
package struct SerialPort: ControllerPort {
    /// Constants of the kernel's terminal interface that the C library lacks.
    private enum Constant {
        /// The `ioctl` requests that read and write a `struct termios2`: `_IOR('T', 0x2A, …)` and `_IOW('T', 0x2B, …)`.
        static let read: UInt = 0x802C_542A
        static let write: UInt = 0x402C_542B
        /// The request that discards unread input and unsent output.
        static let flush: UInt = 0x540B
        static let bothWays = 2
        /// The request that prevents other programs from opening the port.
        static let makeExclusive: UInt = 0x540C
        /// 8 bits, receiver enabled, modem lines ignored, rate as a number.
        static let control: UInt32 = 0o60 | 0o200 | 0o4000 | 0o10000
        static let flowControl: UInt32 = 0o20_000_000_000
    }

    /// The offsets of fields in a `struct termios2`, in octets.
    private enum Field {
        static let control = 8
        static let minimum = 17 + 6
        static let inputRate = 36
        static let outputRate = 40
        static let size = 44
    }

    private let address: SerialAddress

    package init(_ address: SerialAddress) { self.address = address }

    package var name: String { address.description }

    package func open() throws(TransportError) -> OpenPort {
        let raw = Glibc.open(address.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard raw >= 0 else { throw obstacle(errno) }
        let descriptor = FileDescriptor(raw)
        guard control_device(raw, Constant.makeExclusive, nil) == 0 else { throw noPort }
        var settings = [UInt8](repeating: 0, count: Field.size)
        settings.store(Constant.control | (address.hasFlowControl ? Constant.flowControl : 0), at: Field.control)
        settings[Field.minimum] = 1
        settings.store(address.rate, at: Field.inputRate)
        settings.store(address.rate, at: Field.outputRate)
        guard control_device(raw, Constant.write, &settings) == 0,
            control_device(raw, Constant.read, &settings) == 0
        else { throw noPort }
        let rate = settings.load(at: Field.outputRate)
        guard rate.distance(to: address.rate).magnitude <= address.rate / 33 else {
            throw TransportError(
                .unreachable,
                "\(address.path) does not support \(address.rate) baud; the system set \(rate) instead",
                cure: "Choose a rate that the port and the controller support, such as serial:\(address.path)@115200.",
                command: "export \(HostSpecification.variable)=serial:\(address.path)@115200",
                finding: .portRate
            )
        }
        _ = control_device(raw, Constant.flush, UnsafeMutableRawPointer(bitPattern: Constant.bothWays))
        return OpenPort(descriptor, framing: SerialFraming(name: name))
    }

    private var noPort: TransportError {
        TransportError(
            .unreachable,
            errno: errno,
            "\(address.path) is not a serial port",
            cure: "Name a serial port; “\(Self.listing)” lists those on USB.",
            command: Self.listing,
            finding: .portIsNone
        )
    }

    private static let listing = "ls /dev/ttyACM* /dev/ttyUSB*"

    private func obstacle(_ number: Int32) -> TransportError {
        switch number {
        case ENOENT, ENODEV, ENXIO:
            return obstacle(
                number,
                "Plug in the board; it is used as soon as it appears. “\(Self.listing)” lists the ports on USB.",
                Self.listing,
                .portMissing
            )
        case EACCES, EPERM:
            let command = "sudo usermod -aG \(SystemFile.group(of: address.path) ?? "dialout") $USER"
            var error = obstacle(number, "Allow it with “\(command)”, and log in again.", command, .portForbidden)
            error.code = .forbidden
            return error
        case EBUSY:
            let command = "fuser \(address.path)"
            return obstacle(number, "Another program is using it: “\(command)” shows which.", command, .portTaken)
        default:
            return obstacle(
                number,
                "Look for the reason in the kernel's log: “dmesg | tail”.",
                "dmesg | tail",
                .controllerUnreachable
            )
        }
    }

    private func obstacle(
        _ number: Int32,
        _ cure: String,
        _ command: String,
        _ finding: Finding.Code
    ) -> TransportError {
        TransportError(
            .unreachable,
            errno: number,
            "cannot open \(address.path)",
            cure: cure,
            command: command,
            finding: finding
        )
    }

    /// The port is in use by these programs.
    static func held(_ address: SerialAddress, by programs: [RunningProgram]) -> TransportError {
        let names = programs.map(\.description).joined(separator: ", ")
        let isModemManager = programs.contains { $0.name == "ModemManager" }
        let command =
            isModemManager
            ? "sudo systemctl stop ModemManager" : "kill " + programs.map { "\($0.process)" }.joined(separator: " ")
        let target = programs.count == 1 ? "that program" : "those programs"
        let action = isModemManager ? "Stop ModemManager" : "End \(target)"
        return TransportError(
            .unreachable,
            "\(address.path) is in use by \(names)",
            cure: "\(action) with “\(command)”.",
            command: command,
            finding: .portTaken
        )
    }
}

extension [UInt8] {
    fileprivate mutating func store(_ value: UInt32, at offset: Int) {
        withUnsafeMutableBytes { $0.storeBytes(of: value, toByteOffset: offset, as: UInt32.self) }
    }

    fileprivate func load(at offset: Int) -> UInt32 {
        withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
}
