import BLEHost
public import Foundation

/// A read or write request of a central, which the app must answer.
///
/// Threads may share a request: a lock protects ``value``, which is all that changes.
open class CBATTRequest: NSObject, @unchecked Sendable {
    /// The unit of an answer: a read, or all writes that arrived together.
    let exchange: Exchange
    private let sender: CBCentral
    private let target: CBCharacteristic
    private let first: Int
    private let content: Protected<Data?>

    /// A unit that is answered at most once.
    final class Exchange: Sendable {
        /// `nil` if the central does not expect an answer.
        let transaction: ServerTransaction?
        /// The manager that received the request.
        let receiver: ManagerReference
        private let isAnswered = Protected(false)

        init(_ transaction: ServerTransaction?, to receiver: ManagerReference) {
            self.transaction = transaction
            self.receiver = receiver
        }

        /// Records an answer; returns whether it is the first.
        func answer() -> Bool {
            isAnswered.withLock { isAnswered in
                defer { isAnswered = true }
                return !isAnswered
            }
        }
    }

    init(_ exchange: Exchange, from central: CBCentral, to target: CBCharacteristic, offset: Int, value: Data?) {
        self.exchange = exchange
        sender = central
        self.target = target
        first = offset
        content = Protected(value)
    }

    /// Unavailable: requests come from a central.
    @available(*, unavailable)
    public override init() { preconditionFailure("requests cannot be created by apps; they come from a central") }

    /// The central that made the request.
    open var central: CBCentral { sender }

    /// The requested characteristic.
    open var characteristic: CBCharacteristic { target }

    /// The offset of the first octet in the value.
    open var offset: Int { first }

    /// The written value.
    ///
    /// For a read, set it to the value from ``offset`` on.
    open var value: Data? {
        get { content.current }
        set { content.withLock { $0 = newValue } }
    }

    /// The request and the address of the object, for logs.
    open override var description: String {
        "<CBATTRequest: \(address), central = \(sender.identifier), characteristic = \(target.uuid), "
            + "offset = \(first), value = \(value.map { "\($0.count) octets" } ?? "(null)")>"
    }
}
