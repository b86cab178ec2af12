import CoreBluetooth
import CoreBluetoothExtras

/// `TrustedDevices reader` shows a code and reads an email, `TrustedDevices keeper EMAIL` has one, and takes the code.
///
/// Two of them meet on two virtual controllers: `ble radio --port 7001 --port 7002`.
@main
@MainActor
struct TrustedDevices {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "keeper" {
            let keeper = EmailKeeper(email: arguments.dropFirst().first ?? "me@example.org")
            let alert = PairingAlert(.keyboardOnly) { print($0) }
            Thread.detachNewThread {
                while let line = readLine() {
                    DispatchQueue.main.async { alert.wantsCode ? alert.type(line) : keeper.change(to: line) }
                }
            }
            withExtendedLifetime((keeper, alert)) { RunLoop.main.run() }
        } else {
            let reader = EmailReader { print($0) }, alert = PairingAlert(.displayOnly) { print($0) }
            withExtendedLifetime((reader, alert)) { RunLoop.main.run() }
        }
    }
}
