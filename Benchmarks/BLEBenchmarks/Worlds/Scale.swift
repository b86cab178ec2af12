import BLEController
import BLEWire

/// A benchmark of many devices that advertise 31 octets every 100 ms, and one passive scanner that reports all of them.
///
/// The devices are controllers driven by raw HCI commands, so it measures only the controllers and the air.
struct Scale {
    let devices: Int

    /// Measures a run.
    ///
    /// The more devices there are, the shorter its simulated time is.
    func measure() -> Result {
        let seconds = max(2, 20_000 / (devices + 100))
        var radio = AdvertisingRadio(devices: devices)
        radio.run(for: .seconds(1))
        radio.reports = 0
        let wall = Stopwatch(.wall), processor = Stopwatch(.processor)
        radio.run(for: .seconds(seconds))
        let taken = processor.seconds
        let expected = devices * seconds * 10
        return Result(
            workload: "scale-\(devices)",
            explanation: "advertisers with an interval of 100 ms, and a scanner",
            figures: [
                .init("devices", .count(devices)),
                .init("simulated_seconds", .count(seconds)),
                .init("wall_seconds", .number(wall.seconds)),
            ] + Result.pace(of: seconds, taking: taken, reports: radio.reports),
            // A random delay of 5 ms on average extends each interval, so 5 % of the reports are missing.
            isGood: radio.reports > expected * 9 / 10 && radio.reports <= expected
        )
    }
}

/// The controllers, and the air between them.
private struct AdvertisingRadio: ~Copyable {
    private var air = Air(seed: 1)
    private var now = Instant()
    var reports = 0

    init(devices: Int) {
        let data: [UInt8] = [2, 1, 6, 27, 0xFF, 0x4C, 0x00] + [UInt8](repeating: 0xA5, count: 24)
        for device in 0..<devices {
            let low = UInt8(truncatingIfNeeded: device), high = UInt8(truncatingIfNeeded: device >> 8)
            let advertiser = add(device)
            command(0x0C03, [], to: advertiser)
            command(0x2005, [low, high, 1, 2, 3, 0xC4], to: advertiser)
            let address = [UInt8](repeating: 0, count: 7)
            command(0x2006, [160, 0, 160, 0, 3, 1] + address + [7, 0], to: advertiser)
            command(0x2008, [31] + data, to: advertiser)
            command(0x200A, [1], to: advertiser)
        }
        let scanner = add(devices)
        command(0x0C03, [], to: scanner)
        command(0x0C01, [UInt8](repeating: 0xFF, count: 8), to: scanner)
        command(0x2001, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0], to: scanner)
        command(0x2005, [9, 9, 9, 9, 9, 0xC9], to: scanner)
        command(0x200B, [0, 16, 0, 16, 0, 1, 0], to: scanner)
        command(0x200C, [1, 0], to: scanner)
        drain()
    }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while let due = air.deadline, due <= end {
            now = max(now, due)
            air.wake(at: now)
            drain()
        }
        now = end
    }

    private mutating func add(_ number: Int) -> ControllerID {
        air.add(ControllerIdentity(address: DeviceAddress(0xC0_0000_0000 + UInt64(number), .public)))
    }

    private mutating func command(_ opcode: UInt16, _ parameters: [UInt8], to controller: ControllerID) {
        let packet = [0x01] + opcode.littleEndianOctets + [UInt8(parameters.count)] + parameters
        air.receive(packet.span, from: controller, at: now)
    }

    private mutating func drain() {
        while let output = air.next() {
            guard case .hci(let bytes, _) = output, bytes.count > 4 else { continue }
            if bytes[1] == 0x3E, bytes[3] == 0x02 { reports += Int(bytes[4]) }
        }
    }
}
