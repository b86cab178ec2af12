import Glibc

/// Why there is no way to the controller, or no more.
package struct TransportError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of trouble it is.
    package enum Code: Equatable, Sendable {
        /// The address cannot be resolved, or nobody listens there.
        case unreachable
        /// The other end closed the connection, or it broke.
        case closed
        /// What arrived is not HCI.
        case garbage
        /// The other end does not read what it is sent.
        case congested
        /// This program has no right to use it.
        case forbidden
        /// The user, or the machine, has silenced the radio.
        case switchedOff
    }

    package var code: Code
    /// The system's number for it; 0 if the system did not object.
    package var errno: Int32
    /// What was being done, in words.
    package var context: String
    /// Whole sentences that say what to do; `nil` if that is known to whoever reads of the error.
    package var cure: String?
    /// The command line that does it; `nil` if none does it alone.
    package var command: String?
    /// What an examination of the machine calls it.
    package var finding: Finding.Code

    /// Creates an error; `finding` is that of its code if left out.
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
    /// What helps against trouble of this kind where nothing is known that says more; `nil` if nothing does.
    var usualCure: String? {
        switch self {
        case .closed, .congested: "Start the controller anew, or unplug it and plug it in again."
        case .garbage: "See that what is there is a controller that speaks HCI (H4), and at this rate."
        case .unreachable, .forbidden, .switchedOff: nil
        }
    }

    /// What trouble of this kind is called where nothing is known that says more.
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
