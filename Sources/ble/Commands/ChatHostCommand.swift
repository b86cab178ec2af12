import ArgumentParser
import CoreBluetooth

struct ChatHostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host",
        abstract: "Open a chat room and talk to those who join it."
    )

    @Option(help: "The room's name.")
    var name = "Chat Room"
    @Flag(help: "Stay open when standard input has ended.")
    var stay = false
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(json: output.json)
        try await reportingTrouble {
            let console = Console<ChatHost.Event>()
            let host = ChatHost(name: name) { console.add(.happened($0)) }
            console.open()
            var isEnding = false
            loop: while !(isEnding && host.isIdle) {
                switch await console.next() {
                case .happened(.failed(let trouble)): throw trouble
                case .happened(let event): printer.print(event.fact(of: name))
                case .line("/quit"), .interrupted: break loop
                case .line("/hide"): host.setAdvertising(false)
                case .line("/show"): host.setAdvertising(true)
                case .line("/help"): printer.remark("/hide, /show: whether others can find the room; /quit: close it")
                case .line(let line): host.say(line)
                case .ended: isEnding = !stay
                }
            }
            host.close()
        }
    }
}
