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

    package init(_ code: Code, errno: Int32 = 0, _ context: String, cure: String? = nil) {
        self.code = code
        self.errno = errno
        self.context = context
        self.cure = cure
    }

    package var description: String {
        errno == 0 ? context : "\(context): \(String(cString: strerror(errno)))"
    }
}
