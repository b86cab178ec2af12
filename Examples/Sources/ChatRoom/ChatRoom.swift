import CoreBluetooth

/// `ChatRoom host` opens the room; `ChatRoom` alone joins the first one that it sees.
@main
@MainActor
struct ChatRoom {
    static func main() {
        if CommandLine.arguments.dropFirst().first == "host" { host() } else { join() }
    }

    private static func host() {
        let room = PeripheralModeChat()
        readLines { room.textFieldShouldReturn($0) }
        DispatchQueue.main.asyncAfter(deadline: .now() + 1) { room.switchValueChanged(isOn: true) }
        withExtendedLifetime(room) { RunLoop.main.run() }
    }

    private static func join() {
        let central = CentralMode()
        var talking: Talking?
        central.onTalk = { peripheral, characteristic in
            talking = Talking(peripheral: peripheral, characteristic: characteristic, name: "Guest")
            talking?.viewDidLoad()
        }
        readLines { talking?.textFieldShouldReturn($0) }
        DispatchQueue.main.asyncAfter(deadline: .now() + 1) { central.scanSwitchChanged(isOn: true) }
        let timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in
            MainActor.assumeIsolated {
                let rooms = central.allDiscovered.values.filter { $0.peripheral.name == kPeripheralName }
                if talking == nil, let room = rooms.first { central.connect(to: room.peripheral.identifier) }
            }
        }
        withExtendedLifetime((central, timer)) { RunLoop.main.run() }
    }

    private static func readLines(_ handle: @escaping @MainActor (String) -> Void) {
        Thread.detachNewThread {
            while let line = readLine() { DispatchQueue.main.async { handle(line) } }
            DispatchQueue.main.async { exit(0) }
        }
    }
}
