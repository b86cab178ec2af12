import Glibc

/// The host that an app uses, as written in `BLUETOOTH_HOST`.
package enum HostSpecification: Equatable, Sendable {
    /// `hci:N` or `hci:ADDRESS`: an adapter of this machine. `hci:first`: the first one that is or becomes usable.
    case adapter(AdapterReference)
    /// `serial:PATH[@RATE][,rtscts]`: a controller on a serial port.
    case serial(SerialAddress)
    /// `tcp:HOST:PORT` or `unix:PATH`: a controller that speaks HCI (H4) on a socket.
    case socket(SocketAddress)
    /// `bled[:PATH][#RADIO]`: the daemon at this path; without a path, the user's or the system's daemon.
    ///
    /// `#RADIO` selects a radio other than the daemon's first.
    case daemon(path: String?, radio: String)
    /// `world:FILE.json`: a simulated world from a file, in real time.
    case world(file: String)
    /// `demo`: a small built-in world.
    case demo

    /// The reason why a text is not a valid specification; the error's description lists the valid forms.
    package struct Malformed: Error, Equatable, CustomStringConvertible {
        package let text: String
        package let reason: String

        package var description: String {
            "“\(text)” is not a Bluetooth host: \(reason). Use \(HostSpecification.forms)."
        }
    }

    /// The valid forms, for error messages.
    package static let forms = """
        hci:N, hci:ADDRESS, serial:PATH@RATE, tcp:HOST:PORT, unix:PATH, bled, bled:PATH, world:FILE.json or demo
        """

    /// The forms that name a controller, for messages of programs that need one.
    package static let controllerForms = "hci:N, hci:ADDRESS, serial:PATH@RATE, tcp:HOST:PORT or unix:PATH"

    /// The environment variable that selects the host.
    package static let variable = "BLUETOOTH_HOST"

    /// Returns the value of `BLUETOOTH_HOST`; `nil` if it is not set or empty.
    ///
    /// An empty value counts as unset, because some scripts unset a variable that way.
    package static func named(_ environment: (String) -> String?) -> String? {
        environment(variable).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The value of `BLUETOOTH_HOST` in this process; `nil` if it is not set or empty.
    package static var ofProcess: String? { named { getenv($0).map { String(cString: $0) } } }

    /// True for a controller on a socket, which may appear later.
    ///
    /// The host keeps trying to connect to it, because the program that listens on the socket may not have started yet.
    package var isAwaited: Bool { if case .socket = self { true } else { false } }

    /// Parses a specification.
    package init(_ text: String) throws(Malformed) {
        guard text != "demo" else {
            self = .demo
            return
        }
        if let daemon = Self.daemon(text) {
            self = daemon
            return
        }
        guard let colon = text.firstIndex(of: ":") else {
            throw Malformed(text: text, reason: text.isEmpty ? "it is empty" : "it has no colon")
        }
        let rest = String(text[text.index(after: colon)...])
        guard !rest.isEmpty else { throw Malformed(text: text, reason: "there is nothing after the colon") }
        switch text[..<colon] {
        case "hci": self = .adapter(try Self.adapter(rest, in: text))
        case "serial": self = .serial(try SerialAddress(rest))
        case "tcp": self = .socket(try Self.tcp(rest, in: text))
        case "unix": self = .socket(.unix(path: rest))
        case "world": self = .world(file: rest)
        case let kind: throw Malformed(text: text, reason: "“\(kind)” is not a kind of host")
        }
    }

    /// True for a daemon.
    package var isDaemon: Bool { if case .daemon = self { true } else { false } }

    /// Parses `bled[:PATH][#RADIO]`; returns `nil` for anything else.
    private static func daemon(_ text: String) -> Self? {
        guard text.hasPrefix("bled") else { return nil }
        let parts = text.dropFirst(4).split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let radio = parts.count > 1 ? String(parts[1]) : ""
        guard let place = parts.first, !place.isEmpty else { return .daemon(path: nil, radio: radio) }
        return place.hasPrefix(":") && place.count > 1 ? .daemon(path: String(place.dropFirst()), radio: radio) : nil
    }

    /// Parses an adapter's number, name such as `hci0`, or address.
    private static func adapter(_ rest: String, in text: String) throws(Malformed) -> AdapterReference {
        if let reference = AdapterReference(rest) { return reference }
        throw Malformed(text: text, reason: "“\(rest)” is neither an adapter number nor an address")
    }

    /// Parses `HOST:PORT`, with an IPv6 address in brackets.
    private static func tcp(_ rest: String, in text: String) throws(Malformed) -> SocketAddress {
        guard let colon = rest.lastIndex(of: ":"), colon != rest.startIndex else {
            throw Malformed(text: text, reason: "a host and a port are needed")
        }
        let number = rest[rest.index(after: colon)...], port: UInt16
        do throws(Bounds<UInt16>.Refusal) {
            port = try Bounds(1...UInt16.max).read(number)
        } catch {
            throw Malformed(text: text, reason: "“\(number)” is not a port (\(error))")
        }
        var host = rest[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw Malformed(text: text, reason: "the host is missing") }
        return .tcp(host: String(host), port: port)
    }
}

extension HostSpecification: CustomStringConvertible {
    /// The specification as it is written in `BLUETOOTH_HOST`.
    package var description: String {
        switch self {
        case .adapter(let reference): "\(reference)"
        case .serial(let address): "\(address)"
        case .socket(let address): "\(address)"
        case .world(let file): "world:\(file)"
        case .demo: "demo"
        case .daemon(let path, let radio):
            "bled" + (path.map { ":" + $0 } ?? "") + (radio.isEmpty ? "" : "#" + radio)
        }
    }
}

extension HostSpecification {
    /// A new transport to the controller; `nil` for hosts that need none: a simulated world or a daemon.
    package var transport: (any Transport)? {
        switch self {
        case .adapter(let reference): PortTransport(UserChannelPort(reference))
        case .serial(let address): PortTransport(SerialPort(address))
        case .socket(let address): SocketTransport(to: address)
        case .world, .demo, .daemon: nil
        }
    }
}
