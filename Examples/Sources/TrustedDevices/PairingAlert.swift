import CoreBluetooth
import CoreBluetoothExtras

/// What a user sees and does when devices are paired: the alert that Apple's systems show by themselves.
final class PairingAlert {
    /// What is on the screen now.
    private(set) var prompt: PairingPrompt?
    /// How many alerts there have been.
    private(set) var count = 0

    private var pairing: BluetoothPairing?
    private let output: (String) -> Void

    /// Has the user of this device asked from now on.
    ///
    /// - Parameters:
    ///   - capability: What the device has: a screen for digits, keys to type them in, or both.
    ///   - output: Shows a line of text.
    init(_ capability: PairingCapability, output: @escaping (String) -> Void = { _ in }) {
        self.output = output
        pairing = BluetoothPairing(capability: capability, queue: .main) { [weak self] event in
            switch event {
            case .asked(let prompt): self?.show(prompt)
            case .withdrawn: self?.prompt = nil
            case .paired: self?.close("Paired.")
            case .failed(_, let error): self?.close("Not paired: \(error).")
            }
        }
    }

    /// The code that is to be typed in at the other device, while it is shown.
    var code: String? {
        if case .show(let digits) = prompt?.question { digits } else { nil }
    }

    /// Whether the code of the other device is to be typed in.
    var wantsCode: Bool { prompt?.question == .enter }

    func type(_ code: String) { prompt.take()?.enter(code) }

    func accept() { prompt.take()?.accept() }

    func cancel() { prompt.take()?.reject() }

    /// Forgets every device that this one was paired with, and ends the connections to them.
    func forgetDevices() {
        Task { @MainActor [pairing] in
            for bond in try await pairing?.bonds() ?? [] { try await pairing?.removeBond(with: bond.identifier) }
        }
    }

    private func show(_ prompt: PairingPrompt) {
        self.prompt = prompt
        count += 1
        let name = prompt.name ?? "A device"
        switch prompt.question {
        case .show(let digits): output("\(name) would like to pair. Type \(digits) on that device.")
        case .enter: output("\(name) would like to pair. Type the code that it shows.")
        case .compare(let digits): output("\(name) would like to pair. Does it show \(digits)?")
        case .consent: output("\(name) would like to pair. This gives no protection against a man in the middle.")
        }
    }

    private func close(_ outcome: String) {
        prompt = nil
        output(outcome)
    }
}
