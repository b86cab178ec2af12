import Glibc

extension TransportError {
    /// Connecting to `address` failed with `errno`.
    static func unconnected(_ address: SocketAddress, errno: Int32) -> Self {
        let (cure, command, finding): (String?, String?, Finding.Code) =
            switch (address, errno) {
            case (.tcp(let host, let port), ECONNREFUSED) where ["localhost", "127.0.0.1", "::1"].contains(host):
                (
                    "Start the controller; “ble radio --port \(port)” serves a virtual one there.",
                    "ble radio --port \(port)", .noListener
                )
            case (.tcp(let host, let port), ECONNREFUSED):
                ("Start the controller on \(host), port \(port).", nil, .noListener)
            case (.unix, ECONNREFUSED):
                ("No program listens on the socket any longer. Start the controller again.", nil, .noListener)
            case (.unix, ENOENT):
                (
                    "Start the controller that creates the socket, or correct the path: “\(listing)” lists sockets.",
                    listing, .socketMissing
                )
            case (.unix(let path), EACCES), (.unix(let path), EPERM):
                (
                    "Allow it with “sudo chown $USER \(path)”; its parent directories must be accessible, too.",
                    "sudo chown $USER \(path)", .socketForbidden
                )
            case (.tcp(let host, _), EHOSTUNREACH), (.tcp(let host, _), ENETUNREACH), (.tcp(let host, _), ETIMEDOUT):
                ("Check that \(host) is reachable: “ping \(host)”.", "ping \(host)", .controllerUnreachable)
            case (_, _): (nil, nil, .controllerUnreachable)
            }
        return Self(
            .unreachable,
            errno: errno,
            "cannot connect to \(address)",
            cure: cure,
            command: command,
            finding: finding
        )
    }

    private static let listing = "ss -xl"

    /// The host name could not be resolved.
    static func unknownName(_ host: String, _ reason: String) -> Self {
        Self(
            .unreachable,
            "cannot resolve \(host) (\(reason))",
            cure: "Correct the name, or use an address; “getent hosts \(host)” looks it up.",
            command: "getent hosts \(host)",
            finding: .nameUnknown
        )
    }

    /// The controller accepts the connection, but does not respond to commands.
    static var unanswered: Self {
        Self(
            .closed,
            "the controller does not answer",
            cure: "Reset or restart it; on a serial port, check that its firmware speaks HCI at this rate.",
            finding: .controllerSilent
        )
    }

    /// The controller rejects the reset command.
    static var unresettable: Self {
        Self(
            .garbage,
            "the controller rejects a reset",
            cure: "Unplug it and plug it in again, or restart it.",
            finding: .controllerBroken
        )
    }
}
