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
    /// The operation that failed, or a description of the problem.
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
}

extension TransportError.Code {
    /// The advice for errors of this kind that have no advice of their own; `nil` if there is none.
    var usualCure: String? {
        switch self {
        case .closed, .congested: "Restart the controller, or unplug it and plug it in again."
        case .garbage: "Check that it is a controller that speaks HCI (H4), at this rate."
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
