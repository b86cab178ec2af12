import CoreBluetoothExtras
import Foundation

/// The pairing prompts on the desktop: notifications that ask the user, and then report the result.
@MainActor
final class PairingNotifications {
    /// An unfinished pairing.
    private struct Pairing {
        let peer: UUID
        let name: String
        /// The notification that asks the user about the pairing; `nil` once it is answered or closed.
        var notice: NotificationConversation.ID?
    }

    /// The maximum number of unfinished pairings.
    ///
    /// When it is exceeded, the oldest pairing is dropped, and its result is not reported.
    private static let limit = NotificationConversation.limit

    private let desktop: DesktopNotifications
    private var pairings: [Pairing] = []

    init(_ desktop: DesktopNotifications) { self.desktop = desktop }

    func receive(_ event: BluetoothPairing.Event) {
        switch event {
        case .asked(let prompt): ask(prompt)
        case .withdrawn(let peer): withdraw(peer)
        case .paired(let peer, let method, _):
            if let name = end(peer) { desktop.tell("Paired with \(name)", "Using \(method.name).") }
        case .failed(let peer, let error):
            if let name = end(peer) { desktop.tell("Not paired with \(name)", "\(error).") }
        }
    }

    private func ask(_ prompt: PairingPrompt) {
        let peer = prompt.identifier, name = (prompt.name ?? peer.uuidString).nameOnDesktop
        withdraw(peer)
        pairings.removeAll { $0.peer == peer }
        guard let notice = DesktopNotification(asking: prompt.question, about: name) else { return prompt.reject() }
        let shown = desktop.ask(notice) { [weak self] key in
            if key == DesktopNotification.Button.pair.key {
                prompt.accept()
                self?.withdraw(peer)
            } else {
                prompt.reject()
                // After a rejection, the result is not reported, because the user knows it.
                self?.pairings.removeAll { $0.peer == peer }
            }
        }
        guard let shown else { return prompt.reject() }
        if pairings.count == Self.limit { withdraw(pairings.removeFirst().peer) }
        pairings.append(Pairing(peer: peer, name: name, notice: shown))
    }

    private func withdraw(_ peer: UUID) {
        guard let index = pairings.firstIndex(where: { $0.peer == peer }), let notice = pairings[index].notice else {
            return
        }
        pairings[index].notice = nil
        desktop.withdraw(notice)
    }

    /// Removes a finished pairing, and closes its notification.
    ///
    /// Returns the name of the device; `nil` if there was no such pairing.
    private func end(_ peer: UUID) -> String? {
        withdraw(peer)
        guard let index = pairings.firstIndex(where: { $0.peer == peer }) else { return nil }
        return pairings.remove(at: index).name
    }
}

extension DesktopNotification {
    /// The time that the user has to answer a question.
    private static let displayTime = Duration.seconds(30)

    /// Creates the notification for a question about the device `name`; `nil` if buttons cannot answer the question.
    init?(asking question: PairingPrompt.Question, about name: String) {
        let body: String, buttons: [Button]
        switch question {
        case .consent(let replacesBond):
            body =
                "This gives no protection against a man in the middle."
                + (replacesBond ? " Pairing replaces the existing bond." : "")
            buttons = [.pair, .cancel]
        case .show(let digits):
            body = "Type \(digits) on \(name)."
            buttons = [.cancel]
        case .compare(let digits):
            body = "Does \(name) also show \(digits)?"
            buttons = [.pair, .cancel]
        case .enter: return nil
        }
        let summary = buttons.contains(.pair) ? "Pair with \(name)?" : "Pairing with \(name)"
        self.init(summary: summary, body: body, buttons: buttons, isUrgent: true, lifetime: Self.displayTime)
    }
}

extension DesktopNotification.Button {
    fileprivate static let pair = Self(key: "pair", label: "Pair")
    fileprivate static let cancel = Self(key: "cancel", label: "Cancel")
}
