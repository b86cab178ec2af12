import BLERuntime
import BLESimulation
import CoreBluetooth

/// A chat room demo with a host and two guests, as a script in which every step must succeed.
@MainActor
final class ChatDemo {
    /// The maximum virtual time of a step.
    static let stepTimeout = Duration.seconds(60)

    private let world: World
    private let printer: Printer
    private let packets: PacketPrinter?
    private var host: ChatHost!
    private var guests: [ChatGuest] = []
    private var hostEvents: [ChatHost.Event] = []
    private var guestEvents: [String: [ChatGuest.Event]] = [:]
    private var done = 0
    private var missing: String?

    init(in world: World, printer: Printer, showsPackets: Bool) {
        self.world = world
        self.printer = printer
        packets = showsPackets ? PacketPrinter(world: world, printer: printer) : nil
    }

    /// Runs the demo up to the first step that fails, and prints that step; returns true if no step fails.
    func run() async -> Bool {
        await openRoom()
        for guest in guests { await enter(guest) }
        await talk()
        for guest in guests { await leave(guest) }
        packets?.flush()
        if let missing {
            let text = "✗ \(missing) (after \(done.withNoun("step")))"
            printer.print(Fact("failed", ["step": missing, "steps": done], text: text))
        } else if printer.isForPeople {
            printer.remark("✓ \(done) of \(done) steps done in \(world.now.seconds) s of virtual time.")
        }
        return missing == nil
    }

    private func openRoom() async {
        let places: [(name: String, place: World.Position)] = [
            ("Alice", World.Position(x: 3, y: 1)), ("Bob", World.Position(x: -2, y: 4)),
        ]
        world.machine("lobby", at: World.Position(x: 0, y: 0)).inhabit {
            host = ChatHost(name: "Lobby") { [unowned self] event in happened(event) }
        }
        for (name, place) in places {
            world.machine(name.lowercased(), at: place).inhabit {
                guests.append(ChatGuest(name: name) { [unowned self] event in happened(event, to: name) })
            }
        }
        await step("the room opens") { self.hostEvents.contains { if case .opened = $0 { true } else { false } } }
    }

    private func enter(_ guest: ChatGuest) async {
        await step("\(guest.name)'s radio is on") {
            self.events(of: guest) { if case .ready = $0 { true } else { false } }
        }
        guard missing == nil else { return }
        guest.setScanning(true)
        await step("\(guest.name) discovers the room") { guest.rooms.contains { $0.name == self.host.name } }
        guard missing == nil, let room = guest.rooms.first(where: { $0.name == host.name }) else { return }
        guest.join(room)
        await step("\(guest.name) connects") {
            self.events(of: guest) { if case .connected = $0 { true } else { false } }
        }
        await step("\(guest.name) subscribes") {
            self.events(of: guest) { if case .subscribed = $0 { true } else { false } }
        }
        await step("\(guest.name) is welcomed") { self.hasReceived(guest, "[Lobby] Welcome! Here is Lobby") }
    }

    private func talk() async {
        for (guest, text) in zip(
            guests,
            ["Hello from the other side.", "Hi Alice! The radio is virtual, the words are not."]
        ) {
            guard missing == nil else { return }
            guest.say(text)
            await step("\(guest.name) writes") {
                self.events(of: guest) { if case .wrote(text) = $0 { true } else { false } }
            }
            for listener in guests {
                await step("\(listener.name) receives what \(guest.name) wrote") {
                    self.hasReceived(listener, "[\(guest.name)] \(text)")
                }
            }
        }
        guard missing == nil else { return }
        host.say("The room closes soon. Good night!")
        for guest in guests {
            await step("\(guest.name) receives what the host says") {
                self.hasReceived(guest, "[Lobby] The room closes soon")
            }
        }
    }

    private func leave(_ guest: ChatGuest) async {
        guard missing == nil else { return }
        guest.leave()
        await step("\(guest.name) leaves") {
            self.events(of: guest) { if case .left(_, nil) = $0 { true } else { false } }
        }
        let gone = guests.firstIndex { $0 === guest }.map { $0 + 1 }
        await step("the host notices that \(guest.name) left") {
            self.hostEvents.filter { if case .left = $0 { true } else { false } }.count == gone
        }
    }

    /// Advances virtual time until `happened` returns true.
    ///
    /// If that takes longer than ``stepTimeout``, the step `what` and the demo have failed. Does nothing if an earlier
    /// step has failed.
    private func step(_ what: String, until happened: () -> Bool) async {
        guard missing == nil else { return }
        let end = world.now + Self.stepTimeout
        while !happened() {
            guard world.now < end else {
                missing = "\(what): did not happen within \(Self.stepTimeout.seconds) s of virtual time"
                return
            }
            await world.advance(by: .milliseconds(10))
            packets?.flush()
        }
        done += 1
    }

    private func events(of guest: ChatGuest, contain matches: (ChatGuest.Event) -> Bool) -> Bool {
        guestEvents[guest.name, default: []].contains(where: matches)
    }

    private func hasReceived(_ guest: ChatGuest, _ beginning: String) -> Bool {
        events(of: guest) { if case .received(let line) = $0 { line.hasPrefix(beginning) } else { false } }
    }

    private func happened(_ event: ChatHost.Event) {
        hostEvents.append(event)
        // The output for scripts has only the guests' events. The host's events report the same things from the other
        // side.
        if printer.isForPeople { printer.print(event.fact(of: host?.name ?? "Lobby").stamped(world.now)) }
    }

    private func happened(_ event: ChatGuest.Event, to name: String) {
        guestEvents[name, default: []].append(event)
        if case .ready = event { return }
        let room = guests.first { $0.name == name }?.joined
        printer.print(event.fact(of: name, in: room).stamped(world.now))
    }
}

extension Fact {
    /// Returns this fact with the virtual time at which it happened, in seconds, as the key `worldTime`.
    func withWorldTime(_ time: Duration) -> Fact {
        let seconds = (time / .seconds(1) * 1_000_000).rounded() / 1_000_000
        return Fact(event, fields.merging(["worldTime": seconds]) { own, _ in own }, text: text)
    }

    /// Returns this fact with the virtual time at which it happened, both as the key `worldTime` and in the text for
    /// users.
    func stamped(_ time: Duration) -> Fact {
        let text = text.isEmpty ? "" : "\(time.stamp)  \(text)"
        return Fact(event, fields, text: text).withWorldTime(time)
    }
}

extension Duration {
    /// The duration in seconds with three decimals, padded to a fixed width, so that lines of text align.
    var stamp: String { String(format: "%8.3f s", self / .seconds(1)) }
}
