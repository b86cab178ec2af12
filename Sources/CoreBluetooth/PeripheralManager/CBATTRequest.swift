import BLEHost
public import Foundation

/// A read or write request from a central, which the app must answer.
///
/// Threads may share a request: a lock protects ``value``, the only property that changes.
open class CBATTRequest: NSObject, @unchecked Sendable {
    /// The exchange that this request belongs to: a single read, or a group of writes.
    let exchange: Exchange
    private let sender: CBCentral
    private let target: CBCharacteristic
    private let first: Int
    private let content: Protected<Data?>

    /// A read, or a group of writes that arrived together.
    ///
    /// The app answers it as a whole, and only once.
    final class Exchange: Sendable {
        /// The host's identifier of the request; `nil` if the central does not expect an answer.
        let transaction: ServerTransaction?
        /// The manager that received the request.
        let receiver: ManagerReference
        private let isAnswered = Protected(false)

        init(_ transaction: ServerTransaction?, to receiver: ManagerReference) {
            self.transaction = transaction
            self.receiver = receiver
        }

        /// Records that the app has answered; returns whether this is its first answer.
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

    /// Unavailable: apps do not create requests; they receive them from a central.
    @available(*, unavailable)
    public override init() { preconditionFailure("requests cannot be created by apps; they come from a central") }

    /// The central that made the request.
    open var central: CBCentral { sender }

    /// The characteristic to read or write.
    open var characteristic: CBCharacteristic { target }

    /// The offset in the characteristic's value at which to read or write.
    open var offset: Int { first }

    /// The value to write.
    ///
    /// For a read, the app sets it to the characteristic's value from ``offset`` on.
    open var value: Data? {
        get { content.current }
        set { content.withLock { $0 = newValue } }
    }

    /// True if the central waits for an answer, and false for a write without response.
    package var expectsAnswer: Bool { exchange.transaction != nil }

    /// The memory address of the object, its central, characteristic and offset, and the length of its value, for logs.
    open override var description: String {
        "<CBATTRequest: \(address), central = \(sender.identifier), characteristic = \(target.uuid), "
            + "offset = \(first), value = \(value.map { "\($0.count) octets" } ?? "(null)")>"
    }
}
