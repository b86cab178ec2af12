import ArgumentParser
import BLESimulation
import CoreBluetooth

struct ChatHostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "host",
        abstract: "Open a chat room and chat with its guests.",
        discussion: """
            Fails if there is no radio within 10 s of the start. If the radio is lost later, all guests leave, and the \
            room opens again when the radio is back.

            Example:
              ble chat host --name Lobby
            """
    )

    /// The time that guests have to receive the last messages after standard input has ended.
    private static let shutdownTimeout = Duration.seconds(10)

    @Option(help: "The room's name.")
    var name = "Chat Room"
    @Flag(help: "Keep the room open after the end of standard input.")
    var stay = false
    @OptionGroup var output: OutputOptions

    @MainActor
    func run() async throws {
        let printer = Printer(output)
        try await reportingErrors {
            let console = Console<ChatHost.Event>()
            DefaultLink.name(hosts: name)
            let host = ChatHost(name: name) { console.add(.happened($0)) }
            if let remark = PrivateWorld.remark() { printer.remark(remark) }
            console.open()
            let start = RadioWatch.timer { host.giveUpOnRadio() }
            defer { start.cancel() }
            var isEnding = false
            loop: while !(isEnding && host.isIdle) {
                switch await console.next() {
                case .happened(.failed(let trouble)): throw trouble
                case .happened(.radioChanged(let change)): printer.announce(change)
                case .happened(let event): printer.print(event.fact(of: name))
                case .line("/quit"), .interrupted: break loop
                case .line("/hide"): host.setAdvertising(false)
                case .line("/show"): host.setAdvertising(true)
                case .line("/help"): printer.remark("/hide, /show: stop or start advertising the room; /quit: close it")
                case .line(let line) where line.hasPrefix("/"): printer.remark(Chat.unknown(line))
                case .line(let line): host.say(line)
                case .ended:
                    isEnding = !stay
                    if isEnding { console.expectEnd(within: Self.shutdownTimeout) }
                case .overdue:
                    throw CommandError.noAnswer(to: "Sending all messages to the guests", within: Self.shutdownTimeout)
                }
            }
            host.close()
        }
    }
}
