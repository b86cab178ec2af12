import BLEHost
public import Foundation

/// A read or a write of a central, which the app answers.
///
/// Threads may share a request: a lock protects ``value``, which is all that changes.
open class CBATTRequest: NSObject, @unchecked Sendable {
    /// What is answered as one: a read, or all writes that arrived together.
    let exchange: Exchange
    private let sender: CBCentral
    private let target: CBCharacteristic
    private let first: Int
    private let content: Protected<Data?>

    /// What is answered as one, at most once.
    final class Exchange: Sendable {
        /// `nil` if the central does not wait for an answer.
        let transaction: ServerTransaction?
        /// The manager that was asked.
        let receiver: ManagerReference
        private let isAnswered = Protected(false)

        init(_ transaction: ServerTransaction?, to receiver: ManagerReference) {
            self.transaction = transaction
            self.receiver = receiver
        }

        /// Whether nobody answered before.
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

    /// Requests come from a central.
    @available(*, unavailable)
    public override init() { preconditionFailure("requests come from a central") }

    /// Who asks.
    open var central: CBCentral { sender }

    /// What is asked about.
    open var characteristic: CBCharacteristic { target }

    /// The octet of the value with which the request begins, counted from zero.
    open var offset: Int { first }

    /// What the central writes; for a read, the app puts here what the central shall see from ``offset`` on.
    open var value: Data? {
        get { content.current }
        set { content.withLock { $0 = newValue } }
    }

    /// The request and where it stands, for logs.
    open override var description: String {
        "<CBATTRequest: \(address), central = \(sender.identifier), characteristic = \(target.uuid), "
            + "offset = \(first), value = \(value.map { "\($0.count) octets" } ?? "(null)")>"
    }
}
