import BLEHost
import BLERuntime
public import CoreBluetooth

/// A question to the user about a pairing.
///
/// Apple's systems ask such questions in an alert.
///
/// The question can be answered from any thread within 30 s. Later answers have no effect.
public struct PairingPrompt: Sendable {
    /// A question that a prompt asks, or the digits that it displays.
    public enum Question: Equatable, Sendable {
        /// Asks whether to pair without man-in-the-middle protection; answered by ``PairingPrompt/accept()`` or
        /// ``PairingPrompt/reject()``. If `replacesBond` is true, the pairing replaces an existing bond with the
        /// device.
        case consent(replacesBond: Bool)
        /// Displays six digits that the user enters on the device. It needs no answer, but the pairing can be rejected.
        case show(digits: String)
        /// Asks for the six digits that the device displays, or for six digits that the user enters on both devices;
        /// answered by ``PairingPrompt/enter(_:)``.
        case enter
        /// Asks whether the device displays the same six digits; answered by ``PairingPrompt/accept()`` or
        /// ``PairingPrompt/reject()``.
        case compare(digits: String)
    }

    /// The event that started the pairing that a prompt is about.
    public enum Cause: Equatable, Sendable {
        /// The device started the pairing.
        case device
        /// The device refused an app's request.
        case refusal
        /// ``BluetoothPairing/pair(with:)`` was called.
        case request
    }

    /// The identifier of the device.
    public let identifier: UUID
    /// The name of the device, if known.
    ///
    /// A name proves nothing: any device can use any name.
    public let name: String?
    /// The question to ask the user.
    public let question: Question
    /// The event that started the pairing.
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

    /// Answers the question with yes.
    public func accept() { answer(.confirm(true)) }

    /// Rejects the pairing, as the answer to any question.
    public func reject() { answer(.cancel) }

    /// Enters the six digits that the prompt asks for.
    ///
    /// Zeros at the beginning may be left out. Any other text makes the pairing fail, as wrong digits do.
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
