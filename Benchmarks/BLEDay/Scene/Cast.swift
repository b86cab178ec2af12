import BLESimulation
import CoreBluetooth

/// The participants of a day: three apps on one phone, each with a different kind of queue, and the apps that they
/// meet.
final class Cast: Sendable {
    let world: World
    let chronicle: Chronicle
    let phone: Machine
    /// The machines of the servers and centrals that the phone's apps meet.
    let others: [Machine]
    let centrals: [DayCentral]
    let servers: [DayServer]

    /// The interval at which apps send delayed responses and read their channels.
    private static let rhythm = Duration.seconds(5)
    static let phoneName = "phone"
    private static let serverNames = ["lamp", "lock", "scale"]
    private static let centralNames = ["tablet", "watch"]

    init(seed: UInt64) {
        let world = World(seed: seed, conditions: .init(loss: 0.05))
        let chronicle = Chronicle(world)
        let phone = world.machine(Self.phoneName)
        let serverMachines = Self.serverNames.enumerated().map { number, name in
            world.machine(name, at: .init(x: Double(number + 1)))
        }
        let centralMachines = Self.centralNames.enumerated().map { number, name in
            world.machine(name, at: .init(y: Double(number + 1)))
        }
        let first = phone.inhabit { DayCentral("first", on: phone.name, .main, seed: seed, chronicle) }
        let second = phone.inhabit {
            DayCentral("second", on: phone.name, .concurrent, isModern: false, seed: seed, chronicle)
        }
        let own = phone.inhabit { DayServer("server", on: phone.name, seed: seed, chronicle) }
        centrals =
            [first, second]
            + centralMachines.map { machine in
                machine.inhabit { DayCentral(machine.name, on: machine.name, .serial, seed: seed, chronicle) }
            }
        servers =
            [own]
            + serverMachines.map { machine in
                machine.inhabit { DayServer("server", on: machine.name, seed: seed, chronicle) }
            }
        self.world = world
        self.chronicle = chronicle
        self.phone = phone
        others = serverMachines + centralMachines
    }

    /// The PSMs that centrals can open now.
    var channels: [CBL2CAPPSM] { servers.compactMap { $0.channel.withLock { $0 } } }

    /// Advances virtual time, and lets the apps send delayed responses and read their channels.
    func pass(_ duration: Duration) async {
        let end = world.now + duration
        while world.now < end {
            await world.advance(by: min(Self.rhythm, end - world.now))
            for server in servers { await server.perform { server.tend() } }
            for central in centrals { await central.perform { central.tend() } }
        }
    }

    /// Lets all apps report requests that have waited for longer than `patience`.
    func audit(patience: Duration, isLast: Bool = false) async {
        let instant = world.now - patience
        for server in servers { await server.perform { server.audit(since: instant, isLast: isLast) } }
        for central in centrals { await central.perform { central.audit(since: instant, isLast: isLast) } }
    }
}
