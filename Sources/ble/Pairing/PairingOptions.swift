import ArgumentParser
import CoreBluetoothExtras
import Glibc

/// What commands take on whose connections devices may be paired.
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

    /// What the person at the terminal, or the script, can be shown and asked; `nil` if nobody is asked.
    var capability: PairingCapability? {
        (pairing ?? (isatty(STDIN_FILENO) == 1 ? .keyboardDisplay : PairingMeans.none)).capability
    }
}

/// What can be shown and asked, as it is written on the command line.
enum PairingMeans: String, CaseIterable, ExpressibleByArgument {
    case none
    case display
    case yesNo = "yes-no"
    case keyboard
    case keyboardDisplay = "keyboard-display"

    /// `nil` if nobody is asked.
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
