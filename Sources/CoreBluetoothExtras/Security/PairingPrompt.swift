import BLEHost
import BLERuntime
public import CoreBluetooth

/// A question to the user about one pairing: what the alert of Apple's systems asks.
///
/// It may be answered at once or later, from any thread, and waits for 30 s. A second answer comes to nothing.
public struct PairingPrompt: Sendable {
    /// What is asked.
    public enum Question: Equatable, Sendable {
        /// Whether to pair at all, without any protection against who may stand between; answered by
        /// ``PairingPrompt/accept()`` or ``PairingPrompt/reject()``. A bond with the device may be replaced by that.
        case consent(replacesBond: Bool)
        /// Shows six digits that are typed in at the device. There is nothing to answer, but it can be rejected.
        case show(digits: String)
        /// Which six digits the device shows, or the user types in at both; answered by ``PairingPrompt/enter(_:)``.
        case enter
        /// Whether the device shows these six digits as well; answered by ``PairingPrompt/accept()`` or
        /// ``PairingPrompt/reject()``.
        case compare(digits: String)
    }

    /// Why there is a pairing.
    public enum Cause: Equatable, Sendable {
        /// The device wants it.
        case device
        /// The device refuses something that an app asked for.
        case refusal
        /// ``BluetoothPairing/pair(with:)`` was called.
        case request
    }

    /// The device, as apps name it.
    public let identifier: UUID
    /// What the device calls itself, if that is known; anybody can call himself so.
    public let name: String?
    /// What is asked.
    public let question: Question
    /// Why there is a pairing.
    public let cause: Cause
    private let answer: @Sendable (PairingReply) -> Void

    init(_ inquiry: PairingInquiry, session: any HostSession) {
        identifier = UUID(inquiry.peer)
        name = inquiry.name
        question = Question(inquiry.question)
        cause =
            switch inquiry.cause {
            case .peer: .device
            case .refusal: .refusal
            case .request: .request
            }
        answer = { session.send(.security(.answer(inquiry.peer, $0))) }
    }

    /// Says yes.
    public func accept() { answer(.confirm(true)) }

    /// Says no, whatever was asked: the devices are not paired.
    public func reject() { answer(.cancel) }

    /// Types in six digits; anything else fails as wrong digits do.
    public func enter(_ digits: String) { answer(.passkey(digits.count <= 6 ? UInt32(digits) ?? .max : .max)) }
}

extension PairingPrompt.Question {
    fileprivate init(_ question: PairingQuestion) {
        self =
            switch question {
            case .consent(let replacesBond): .consent(replacesBond: replacesBond)
            case .display(let passkey): .show(digits: Self.digits(passkey))
            case .enterPasskey: .enter
            case .compare(let number): .compare(digits: Self.digits(number))
            }
    }

    private static func digits(_ number: UInt32) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 6 - text.count)) + text
    }
}
