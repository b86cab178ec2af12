import BLESimulation
import CoreBluetooth
import CoreBluetoothExtras

/// A benchmark of the payload that one link carries, compared with the maximum that fits into its connection events.
///
/// Times are virtual, and nothing is lost, so the figures repeat exactly.
@MainActor
struct AirThroughput {
    /// The direction and kind of the transfer.
    enum Kind: String, CaseIterable {
        case notifications, commands, channel, reads
    }

    /// The connection intervals, in units of 1.25 ms.
    private static let intervals = [6, 12, 24, 80]
    /// The intended share of the limit, in percent.
    private static let goal = 97.0

    /// The measured time in seconds; longer for reads, which are few.
    private var seconds: Int { kind == .reads ? 60 : 2 }
    /// The share of the limit, in percent, that makes a measurement invalid if it is reached.
    ///
    /// It exceeds 100, because data that was sent earlier may arrive in the measured time. An app reads a channel in
    /// large pieces, so the share of a channel may be higher.
    private var largestShare: Double { kind == .channel ? 104 : 101 }

    nonisolated let kind: Kind
    nonisolated let mtu: Int
    nonisolated let layer: PhysicalLayer
    nonisolated let isEncrypted: Bool
    /// The folder for a capture of each transfer; `nil` to write none.
    nonisolated let captures: String?

    private var name: String {
        "air-\(kind)-\(mtu)-\(layer == .le2M ? "2m" : "1m")\(isEncrypted ? "-encrypted" : "")"
    }

    /// Returns all combinations of kind, MTU, PHY and encryption, with a folder for captures.
    nonisolated static func all(captures: String?) -> [Self] {
        Kind.allCases.flatMap { kind in
            [517, 247].flatMap { mtu in
                [PhysicalLayer.le2M, .le1M].flatMap { layer in
                    [false, true].map {
                        Self(kind: kind, mtu: mtu, layer: layer, isEncrypted: $0, captures: captures)
                    }
                }
            }
        }
    }

    nonisolated func measure() -> Result { MainLoop.wait { await run() } }

    private func run() async -> Result {
        var figures: [Result.Figure] = [], shares: [Double] = []
        for interval in Self.intervals {
            let milliseconds = Double(interval) * 1.25
            let octets = await transfer(interval: interval)
            let limit = limit(interval: Int64(interval) * 1_250_000)
            shares.append(Double(octets) / Double(seconds) / limit * 100)
            figures.append(.init("mbit_s_\(milliseconds)_ms", .number(Double(octets) * 8 / Double(seconds) / 1e6)))
            figures.append(.init("percent_\(milliseconds)_ms", .number(shares.last ?? 0)))
        }
        return Result(
            workload: name,
            explanation: "payload of a link, as a share of what fits into its connection events",
            figures: figures + [
                .init("least_percent", .number(shares.min() ?? 0)), .init("goal_percent", .number(Self.goal)),
            ],
            isGood: shares.allSatisfy { $0 > 0 && $0 < largestShare }
        )
    }

    /// Returns the number of value octets that arrive in a new world during the measured time.
    ///
    /// `interval` is in units of 1.25 ms. Returns 0 if the link does not have the PHY and the encryption that this
    /// benchmark is for, or if the capture cannot be written.
    private func transfer(interval: Int) async -> Int {
        guard let world = world(interval: interval) else { return 0 }
        let sensor = world.machine("sensor", mtu: mtu)
        let phone = world.machine(
            "phone",
            at: .init(x: 1),
            mtu: mtu,
            connectionInterval: .microseconds(interval * 1_250)
        )
        let octets: () -> Int, peripheral: () -> CBPeripheral?, start: () -> Void, apps: [NSObject]
        if kind == .channel {
            let store = TransferEnd(sending: 0, salt: 0), visitor = TransferEnd(sending: .max / 2, salt: 1)
            apps = [
                sensor.inhabit { TransferStore(store, isEncrypted: isEncrypted) },
                phone.inhabit { TransferVisitor(visitor) },
            ]
            (octets, peripheral, start) = ({ store.received }, { visitor.peripheral }, { store.startReading() })
        } else {
            let server = sensor.inhabit { AirServer(isEncrypted: isEncrypted) }
            let client = phone.inhabit { AirClient(kind, server: server) }
            (octets, peripheral) = ({ client.received + server.received }, { client.peripheral })
            (start, apps) = ({ client.start() }, [server, client])
        }
        await world.advance(by: .seconds(10))
        if layer == .le1M {
            let task = Task { try? await peripheral()?.requestPhysicalLayers(transmit: [.le1M], receive: [.le1M]) }
            await world.advance(by: .seconds(5))
            await task.value
        }
        start()
        await world.advance(by: .seconds(1))
        let link = peripheral(), layers = link?.physicalLayers
        guard link?.connectionSecurity == (isEncrypted ? .encrypted : .unencrypted), layers?.transmit == layer,
            layers?.receive == layer
        else { return 0 }
        let before = octets()
        await world.advance(by: .seconds(seconds))
        withExtendedLifetime(apps) {}
        return octets() - before
    }

    /// Returns a new world, which writes a capture if there is a folder for captures; `nil` if the file cannot be
    /// written.
    private func world(interval: Int) -> World? {
        guard let captures else { return World(seed: 1) }
        return try? World(seed: 1, capture: "\(captures)/\(name)-\(interval).pcapng")
    }

    /// Returns the maximum number of value octets per second that fit into the connection events.
    ///
    /// `interval` is the connection interval in nanoseconds. A stream fills every event with packets of 251 octets.
    /// Each is followed by a pause of 150 µs, an empty packet as its acknowledgement, and another pause. A read takes
    /// two events for each request.
    private func limit(interval: Int64) -> Double {
        let perSecond = 1e9 / Double(interval)
        if kind == .reads {
            let requests = mtu == 517 ? 1 : 3
            return perSecond / Double(2 * requests) * 512
        }
        let octet: Int64 = layer == .le2M ? 4_000 : 8_000, header: Int64 = layer == .le2M ? 11 : 10
        let exchange = octet * (2 * header + 251 + (isEncrypted ? 4 : 0)) + 2 * 150_000
        let share = kind == .channel ? 247.0 / 251 : mtu == 517 ? 495.0 / 502 : 244.0 / 251
        return perSecond * Double(interval / exchange) * 251 * share
    }
}
