import Glibc

/// The reason why there is no connection to a controller, with advice.
package struct TransportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of error.
    package enum Code: Equatable, Sendable {
        /// The address cannot be resolved, or the connection is refused.
        case unreachable
        /// The other end closed the connection, or the connection broke.
        case closed
        /// The received data are not HCI.
        case garbage
        /// The other end does not read what is sent.
        case congested
        /// This program has no permission to use the controller.
        case forbidden
        /// The radio is blocked or switched off.
        case switchedOff
    }

    package var code: Code
    /// The system's error number; 0 if there is none.
    package var errno: Int32
    /// A description of the problem, without a full stop, such as "cannot connect to tcp:127.0.0.1:7001".
    package var context: String
    /// Advice, as one or more sentences; `nil` if there is nothing specific.
    package var cure: String?
    /// The command line that fixes the problem; `nil` if no single command does.
    package var command: String?
    /// The kind of finding that the error becomes in an examination of the machine.
    package var finding: Finding.Code

    /// Creates an error.
    ///
    /// The default of `finding` is the usual finding for `code`.
    package init(
        _ code: Code,
        errno: Int32 = 0,
        _ context: String,
        cure: String? = nil,
        command: String? = nil,
        finding: Finding.Code? = nil
    ) {
        self.code = code
        self.errno = errno
        self.context = context
        self.cure = cure
        self.command = command
        self.finding = finding ?? code.finding
    }

    package var description: String {
        errno == 0 ? context : "\(context): \(String(cString: strerror(errno)))"
    }

    /// The description as a sentence, with a capital letter and a full stop.
    package var sentence: String {
        let text = description
        return text.prefix(1).uppercased() + text.dropFirst() + "."
    }

    /// The system's description of ``errno``, or ``context`` if there is no error number.
    package var reason: String { errno == 0 ? context : String(cString: strerror(errno)) }
}

extension TransportError.Code {
    /// The advice for errors of this kind that have no advice of their own; `nil` if there is none.
    var usualCure: String? {
        switch self {
        case .closed, .congested: "Restart the controller, or unplug it and plug it in again."
        case .garbage:
            "Check that the other end is a controller that speaks HCI over H4; on a serial port, check the rate."
        case .unreachable, .forbidden, .switchedOff: nil
        }
    }

    /// The usual finding for this kind of error.
    fileprivate var finding: Finding.Code {
        switch self {
        case .unreachable: .controllerUnreachable
        case .closed: .connectionClosed
        case .garbage: .controllerGarbled
        case .congested: .controllerSilent
        case .forbidden: .notPermitted
        case .switchedOff: .adapterBlocked
        }
    }
}
