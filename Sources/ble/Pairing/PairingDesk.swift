import BLERuntime
import CoreBluetooth
import CoreBluetoothExtras

/// Asks whoever is at the terminal, or the script, when devices are paired, and says what came of it.
///
/// Questions are printed, and answered by lines: “yes”, “no”, or six digits.
@MainActor
final class PairingDesk {
    private let printer: Printer
    private var pairing: BluetoothPairing?
    /// What has been asked last and not been answered.
    private var open: PairingPrompt?
    /// The device that was asked about last.
    private var device: DeviceKeys?
    /// Whether a question has been asked in a pairing of which nothing has come yet.
    private var isUnderWay = false
    private var input: Task<Void, Never>?
    private var telling: Task<Void, Never>?
    private let readsInput: Bool
    private let notices: PairingNotices?

    /// Begins to ask.
    ///
    /// - Parameters:
    ///   - options: What can be shown and asked.
    ///   - printer: Prints the questions, and what came of them.
    ///   - readsInput: Whether answers are read from standard input, from the first question on; otherwise whoever
    ///     reads it calls ``answer(_:)``.
    ///   - notices: Asks on the desktop, in place of the terminal.
    ///   - isForAllApps: Whether the options count for all apps that share the radio.
    init(
        _ options: PairingOptions,
        _ printer: Printer,
        readsInput: Bool = true,
        notices: PairingNotices? = nil,
        isForAllApps: Bool = false
    ) {
        self.printer = printer
        self.readsInput = readsInput && notices == nil
        self.notices = notices
        let pairing = BluetoothPairing(capability: options.capability, queue: .main) { [weak self] event in
            MainActor.assumeIsolated { self?.hear(event) }
        }
        self.pairing = pairing
        if options.noBond { pairing.insist(on: PairingPolicy(keepsBonds: false), forAllApps: isForAllApps) }
        if let key = options.temporaryKey { pairing.use(key) }
        if options.tell { telling = Task { [weak self] in await self?.tell(pairing) } }
    }

    /// Uses what a peripheral has told by other means than Bluetooth.
    func use(_ data: OutOfBandData, from peripheral: CBPeripheral) { pairing?.use(data, from: peripheral) }

    /// Says what the other device may be told.
    private func tell(_ pairing: BluetoothPairing) async {
        do {
            let octets = try await pairing.makeOutOfBandData().structures.hexadecimal
            printer.print(Fact("out_of_band", ["data": octets], text: "Tell the other device \(octets)."))
        } catch {
            printer.remark("There is nothing to tell the other device: \(error).")
        }
    }

    /// Returns when it has been said what came of a pairing that is under way, if that is said within a second: a link
    /// that is lost is told of on another way.
    func outcomeTold() async {
        for _ in 0..<100 where isUnderWay { try? await Task.sleep(for: .milliseconds(10)) }
    }

    /// Asks no more.
    func close() {
        input?.cancel()
        telling?.cancel()
        pairing = nil
    }

    private func hear(_ event: BluetoothPairing.Event) {
        notices?.hear(event)
        switch event {
        case .asked(let prompt): ask(prompt)
        case .withdrawn(let peer): if open?.identifier == peer { open = nil }
        case .paired(let peer, let method, let isBonded):
            isUnderWay = false
            let fields = keys(of: peer).merging(["method": "\(method)", "bonded": isBonded]) { own, _ in own }
            printer.print(Fact("paired", fields, text: "Paired with \(peer) by \(method.name)."))
        case .failed(let peer, let error):
            isUnderWay = false
            let fields = keys(of: peer).merging(["reason": "\(error)"]) { own, _ in own }
            printer.print(Fact("pairing_failed", fields, text: "Not paired with \(peer): \(error)."))
        }
    }

    /// The keys by which lines of JSON name the device of a pairing.
    private func keys(of peer: UUID) -> [String: Any] {
        let known = device.flatMap { $0.identifier == peer ? $0 : nil } ?? DeviceKeys(peer)
        return known.fields.merging(["peer": peer.uuidString]) { own, _ in own }
    }

    private func ask(_ prompt: PairingPrompt) {
        open = prompt
        isUnderWay = true
        device = DeviceKeys(prompt.identifier, name: prompt.name)
        var fields = keys(of: prompt.identifier)
        fields["cause"] = "\(prompt.cause)"
        let who = prompt.name?.printable ?? prompt.identifier.uuidString, text: String
        switch prompt.question {
        case .consent(let replacesBond):
            fields["question"] = "consent"
            fields["replaces_bond"] = replacesBond
            let bond = replacesBond ? ", in place of the bond that there is" : ""
            text = "Pair with \(who)\(bond)? Nobody can tell who may stand in between. Type yes or no."
        case .show(let digits):
            fields["question"] = "show"
            fields["digits"] = digits
            text = "Type \(digits) at \(who)."
        case .enter:
            fields["question"] = "enter"
            text = "Which six digits does \(who) show? Type them, or no."
        case .compare(let digits):
            fields["question"] = "compare"
            fields["digits"] = digits
            text = "Does \(who) show \(digits) as well? Type yes or no."
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

    /// Whether a question waits for its answer.
    var isAsking: Bool { open != nil }

    /// Takes a line for the answer to what was asked last, and says so if it is none.
    func answer(_ line: String) {
        guard let prompt = open else { return printer.remark("Nothing is asked.") }
        let isNumber = line.utf8.count == 6 && line.allSatisfy { $0.isASCII && $0.isNumber }
        switch (prompt.question, line) {
        case (_, "no"): prompt.reject()
        case (.consent, "yes"), (.compare, "yes"): prompt.accept()
        case (.enter, let digits) where isNumber: prompt.enter(digits)
        case (.show, _): return printer.remark("The digits are typed at the other device; “no” ends it.")
        case (.enter, _): return printer.remark("“\(line.printable)” is neither six digits nor “no”.")
        case (.consent, _), (.compare, _): return printer.remark("“\(line.printable)” is neither “yes” nor “no”.")
        }
        open = nil
    }
}

extension PairingMethod {
    /// What people call it.
    var name: String {
        switch self {
        case .justWorks: "Just Works, which keeps out nobody in between"
        case .passkeyEntry: "passkey"
        case .numericComparison: "numeric comparison"
        case .outOfBand: "what was told by other means"
        }
    }
}
