import ArgumentParser
import CoreBluetoothExtras
import Foundation
import Glibc

/// The pairing options of commands whose connections allow pairing.
struct PairingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            What can be shown and asked when devices are paired: none, display, yes-no, keyboard or keyboard-display. \
            If left out, keyboard-display at a terminal, and none elsewhere.
            """,
            valueName: "capability"
        )
    )
    var pairing: PairingMeans?
    @Flag(help: "Keep no keys: what comes of a pairing counts until the connection ends.")
    var noBond = false
    @Flag(help: "Print what the device may be told by other means than Bluetooth, to pair with it by that.")
    var tell = false
    @Option(
        help: ArgumentHelp(
            """
            A key that both devices know by other means, for a device from before LE Secure Connections: 32 \
            hexadecimal digits. The next pairing uses it.
            """,
            valueName: "octets"
        ),
        transform: { text in
            guard let key = TemporaryKey(Data(try Octets.parseDigits(text))) else {
                throw ValidationError("these are not 32 hexadecimal digits")
            }
            return key
        }
    )
    var temporaryKey: TemporaryKey?

    /// The means to show and ask; `nil` if nobody is asked.
    var capability: PairingCapability? {
        (pairing ?? (isatty(STDIN_FILENO) == 1 ? .keyboardDisplay : PairingMeans.none)).capability
    }
}

/// The pairing options of commands that connect to a peripheral.
struct PeripheralPairingOptions: ParsableArguments {
    @OptionGroup var common: PairingOptions
    @Option(
        help: ArgumentHelp(
            "What the peripheral has told by other means, as its --tell prints it: 72 hexadecimal digits.",
            valueName: "octets"
        ),
        transform: { text in
            guard let data = OutOfBandData(structures: try Octets.parseDigits(text)) else {
                throw ValidationError("these are not the structures 0x22 and 0x23, with 16 octets each")
            }
            return data
        }
    )
    var told: OutOfBandData?
}

/// The means to show and ask, as written on the command line.
enum PairingMeans: String, CaseIterable, ExpressibleByArgument {
    case none
    case display
    case yesNo = "yes-no"
    case keyboard
    case keyboardDisplay = "keyboard-display"

    /// The pairing capability; `nil` if nobody is asked.
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
