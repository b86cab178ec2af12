import ArgumentParser
import CoreBluetoothExtras
import Foundation
import Glibc

/// The pairing options of commands whose connections allow pairing.
struct PairingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Input and output available for pairing (default: keyboard-display at a terminal, otherwise none).",
            valueName: "capability"
        )
    )
    var pairing: PairingMeans?
    @Flag(help: "Don't bond: discard the keys on disconnect.")
    var noBond = false
    @Flag(help: "Print this host's out-of-band (OOB) pairing data, to pass to --told on the other device.")
    var tell = false
    @Option(
        help: ArgumentHelp(
            """
            Out-of-band temporary key (TK) for the next legacy pairing, the same on both devices: 32 hexadecimal \
            digits.
            """,
            valueName: "octets"
        ),
        transform: { text in
            guard let octets = try? Octets.parseDigits(text), let key = TemporaryKey(octets) else {
                throw ValidationError("expected 32 hexadecimal digits")
            }
            return key
        }
    )
    var temporaryKey: TemporaryKey?

    /// The input and output that the host may use for pairing; `nil` if the user is not asked.
    var capability: PairingCapability? {
        (pairing ?? (isatty(STDIN_FILENO) == 1 ? .keyboardDisplay : PairingMeans.none)).capability
    }
}

/// The pairing options of commands that connect to a peripheral.
struct PeripheralPairingOptions: ParsableArguments {
    @OptionGroup var common: PairingOptions
    @Option(
        help: ArgumentHelp(
            "The peripheral's out-of-band pairing data: the 72 hexadecimal digits that --tell prints there.",
            valueName: "octets"
        ),
        transform: { text in
            guard let octets = try? Octets.parseDigits(text), let data = OutOfBandData(structures: octets) else {
                throw ValidationError("expected the 72 hexadecimal digits that --tell prints on the peripheral")
            }
            return data
        }
    )
    var told: OutOfBandData?
}

/// The input and output available for pairing, as given on the command line.
enum PairingMeans: String, CaseIterable, ExpressibleByArgument {
    case none
    case display
    case yesNo = "yes-no"
    case keyboard
    case keyboardDisplay = "keyboard-display"

    /// The corresponding value of the pairing API; `nil` if the user is not asked.
    var capability: PairingCapability? {
        switch self {
        case .none: nil
        case .display: .displayOnly
        case .yesNo: .displayYesNo
        case .keyboard: .keyboardOnly
        case .keyboardDisplay: .keyboardDisplay
        }
    }
}
