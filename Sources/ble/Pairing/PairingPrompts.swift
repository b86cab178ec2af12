import BLERuntime
import CoreBluetooth
import CoreBluetoothExtras

/// The pairing prompts of a command, which ask the user or a script, and report the results.
///
/// The printer prints each question. The answer is a line of input: “yes”, “no”, or six digits. If several devices pair
/// at the same time, each question is printed when the previous one no longer needs an answer. So an answer never
/// counts for a device that the user was not asked about.
@MainActor
final class PairingPrompts {
    private let printer: Printer
    private var pairing: BluetoothPairing?
    /// The pairings that have asked a question and have no result yet, in the order of their open questions.
    private var pairings: [Pairing] = []
    /// True if questions are printed one at a time, because the answers do not say which question they are about.
    private var asksInTurn: Bool { notices == nil }
    private var input: Task<Void, Never>?
    private var telling: Task<Void, Never>?
    private let readsInput: Bool
    private let notices: PairingNotifications?

    /// A pairing that has asked a question.
    private struct Pairing {
        let device: DeviceKeys
        /// The question; `nil` if it no longer needs an answer.
        var prompt: PairingPrompt?
    }

    /// The maximum number of pairings without a result.
    ///
    /// When it is reached, the oldest pairing without an open question is dropped; if all have one, the new question is
    /// answered with no.
    private static let mostPairings = 64

    /// Starts to receive pairing events, and to ask the user.
    ///
    /// - Parameters:
    ///   - options: The user's pairing options.
    ///   - printer: Prints the questions and the results.
    ///   - readsInput: True to read answers from standard input after the first question. If false, the reader of
    ///     standard input must call ``answer(_:)``. Has no effect if there are `notices`.
    ///   - notices: The notifications that ask on the desktop; `nil` to ask in the terminal.
    ///   - isForAllApps: True if the options apply to all apps that share the radio.
    init(
        _ options: PairingOptions,
        _ printer: Printer,
        readsInput: Bool = true,
        notices: PairingNotifications? = nil,
        isForAllApps: Bool = false
    ) {
        self.printer = printer
        self.readsInput = readsInput && notices == nil
        self.notices = notices
        let pairing = BluetoothPairing(capability: options.capability, queue: .main) { [weak self] event in
            MainActor.assumeIsolated { self?.receive(event) }
        }
        self.pairing = pairing
        if options.noBond { pairing.insist(on: PairingPolicy(keepsBonds: false), forAllApps: isForAllApps) }
        if let key = options.temporaryKey { pairing.use(key) }
        if options.tell { telling = Task { [weak self] in await self?.tell(pairing) } }
    }

    /// Uses out-of-band data from `peripheral` when pairing with it.
    func use(_ data: OutOfBandData, from peripheral: CBPeripheral) { pairing?.use(data, from: peripheral) }

    /// Prints this host's out-of-band data, for use on the other device.
    private func tell(_ pairing: BluetoothPairing) async {
        do {
            let octets = try await pairing.makeOutOfBandData().structures.hexadecimal
            printer.print(
                Fact("out_of_band", ["data": octets], text: "Out-of-band data for the other device: \(octets)")
            )
        } catch {
            printer.remark("Cannot create out-of-band data: \(error).")
        }
    }

    /// Waits until the result of an unfinished pairing has been reported, but at most one second.
    ///
    /// If the link is lost, there may be no result; the command that uses the link reports the loss.
    func waitForOutcome() async {
        for _ in 0..<100 where !pairings.isEmpty { try? await Task.sleep(for: .milliseconds(10)) }
    }

    /// Stops asking.
    func close() {
        input?.cancel()
        telling?.cancel()
        pairing = nil
    }

    private func receive(_ event: BluetoothPairing.Event) {
        notices?.receive(event)
        switch event {
        case .asked(let prompt): ask(prompt)
        case .withdrawn(let peer): closeQuestion(about: peer)
        case .paired(let peer, let method, let isBonded):
            let fields = keys(of: peer).merging(["method": "\(method)", "bonded": isBonded]) { own, _ in own }
            printer.print(Fact("paired", fields, text: "Paired with \(peer) using \(method.name)."))
            end(peer)
        case .failed(let peer, let error):
            let fields = keys(of: peer).merging(["reason": "\(error)"]) { own, _ in own }
            printer.print(Fact("pairing_failed", fields, text: "Not paired with \(peer): \(error)."))
            end(peer)
        }
    }

    /// Returns the JSON keys that identify the peer of a pairing.
    private func keys(of peer: UUID) -> [String: Any] {
        let known = pairings.first { $0.device.identifier == peer }?.device ?? DeviceKeys(peer)
        return known.fields.merging(["peer": peer.uuidString]) { own, _ in own }
    }

    /// The question that the next answer is about; `nil` if there is none.
    private var open: PairingPrompt? { pairings.lazy.compactMap(\.prompt).first }

    /// Prints a question, or queues it until the questions before it no longer need an answer.
    private func ask(_ prompt: PairingPrompt) {
        let pairing = Pairing(device: DeviceKeys(prompt.identifier, name: prompt.name), prompt: prompt)
        let index = pairings.firstIndex { $0.device.identifier == prompt.identifier }
        if let index, pairings[index].prompt != nil {
            pairings[index] = pairing
        } else {
            if let index { pairings.remove(at: index) }
            if pairings.count >= Self.mostPairings {
                guard let oldest = pairings.firstIndex(where: { $0.prompt == nil }) else { return prompt.reject() }
                pairings.remove(at: oldest)
            }
            pairings.append(pairing)
        }
        if !asksInTurn || open?.identifier == prompt.identifier { show(prompt) }
    }

    /// Removes the question about a device, and prints the next question if the removed one was open.
    private func closeQuestion(about peer: UUID) {
        let wasOpen = open?.identifier == peer
        guard let index = pairings.firstIndex(where: { $0.device.identifier == peer }) else { return }
        pairings[index].prompt = nil
        if wasOpen, asksInTurn, let open { show(open) }
    }

    /// Removes a pairing that has a result.
    private func end(_ peer: UUID) {
        closeQuestion(about: peer)
        pairings.removeAll { $0.device.identifier == peer }
    }

    private func show(_ prompt: PairingPrompt) {
        let fields = keys(of: prompt.identifier).merging(prompt.keys) { own, _ in own }
        let who = prompt.name?.printable ?? prompt.identifier.uuidString, text: String
        switch prompt.question {
        case .consent(let replacesBond):
            let bond = replacesBond ? ", replacing the existing bond" : ""
            text = "Pair with \(who)\(bond)? This gives no protection against a man in the middle. Type yes or no."
        case .show(let digits):
            text = "Type \(digits) on \(who)."
        case .enter:
            text = "Type the six digits that \(who) shows, or no to reject."
        case .compare(let digits):
            text = "Does \(who) also show \(digits)? Type yes or no."
        }
        printer.print(Fact("pairing_asked", fields, text: notices == nil ? text : ""))
        if readsInput { readAnswers() }
    }

    private func readAnswers() {
        guard input == nil else { return }
        input = Task { [weak self] in
            while let line = await StandardInput.line(), let self, !Task.isCancelled { answer(line) }
        }
    }

    /// True if a question waits for an answer.
    var isAsking: Bool { open != nil }

    /// Answers the open question with a line of input, or tells the user why the line is not a valid answer.
    func answer(_ line: String) {
        guard let prompt = open else { return printer.remark("There is no open pairing prompt.") }
        let isNumber = line.utf8.count == 6 && line.allSatisfy { $0.isASCII && $0.isNumber }
        switch (prompt.question, line) {
        case (_, "no"): prompt.reject()
        case (.consent, "yes"), (.compare, "yes"): prompt.accept()
        case (.enter, let digits) where isNumber: prompt.enter(digits)
        case (.show, _): return printer.remark("Type the digits on the other device, or “no” here to reject.")
        case (.enter, _): return printer.remark("“\(line.printable)” is not valid here; type six digits or “no”.")
        case (.consent, _), (.compare, _):
            return printer.remark("“\(line.printable)” is not valid here; type “yes” or “no”.")
        }
        closeQuestion(about: prompt.identifier)
    }
}

extension PairingPrompt {
    /// The JSON keys of the question and its cause.
    var keys: [String: Any] {
        var fields: [String: Any] = ["cause": "\(cause)"]
        switch question {
        case .consent(let replacesBond):
            fields["question"] = "consent"
            fields["replaces_bond"] = replacesBond
        case .show(let digits):
            fields["question"] = "show"
            fields["digits"] = digits
        case .enter: fields["question"] = "enter"
        case .compare(let digits):
            fields["question"] = "compare"
            fields["digits"] = digits
        }
        return fields
    }
}

extension PairingMethod {
    /// The name of the method in text for users.
    var name: String {
        switch self {
        case .justWorks: "Just Works (no protection against a man in the middle)"
        case .passkeyEntry: "passkey entry"
        case .numericComparison: "numeric comparison"
        case .outOfBand: "out-of-band data"
        }
    }
}
