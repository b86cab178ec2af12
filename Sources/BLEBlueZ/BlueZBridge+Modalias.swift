import BLEHost
import BLEWire
import DBus

/// A scheduled read of the PnP ID of a connected device.
struct ModaliasRead: Sendable {
    let handle: AttributeHandle
    /// The time at which the device's services became known.
    let start: Instant
    /// The time of the read, unless requests of programs are outstanding then.
    var time: Instant
}

// The property Modalias, which says what a device is: its vendor, product and version.
//
// BlueZ reads the PnP ID before it reports the services. Here the requests of programs come first, because each request
// before theirs delays them.
extension BlueZBridge {
    /// The delay before the PnP ID is read, and between checks whether requests of programs are outstanding.
    static let modaliasDelay = Duration.milliseconds(250)
    /// The maximum time for which the read of the PnP ID waits for requests of programs.
    static let maximumModaliasDelay = Duration.seconds(2)

    /// Schedules the read of a device's PnP ID if the device has one and it has not been read.
    mutating func scheduleModalias(of peer: PeerIdentifier) {
        guard let device = devices[peer], tree.value(device.path, BlueZ.device, "Modalias") == nil,
            let service = device.database.services.first(where: { $0.uuid == .short(0x180A) }),
            let members = device.database.members[service.range.start],
            let found = members.first(where: { $0.uuid == .short(0x2A50) })
        else { return }
        let time = now + Self.modaliasDelay
        modaliasReads[peer] = ModaliasRead(handle: found.value, start: now, time: time)
        wait(until: time)
    }

    /// Starts the reads that are due; a read waits while programs have requests to the device outstanding.
    mutating func readModaliases() {
        for peer in modaliasReads.keys {
            guard let read = modaliasReads[peer], read.time <= now else { continue }
            let isBusy = sessions.all.contains { $0.requests.all.contains { $0.peer == peer } }
            if isBusy, now < read.start + Self.maximumModaliasDelay {
                modaliasReads[peer] = ModaliasRead(
                    handle: read.handle,
                    start: read.start,
                    time: now + Self.modaliasDelay
                )
                continue
            }
            modaliasReads[peer] = nil
            guard let key = devices[peer]?.database.discoverer else { continue }
            request(key, peer, .readWithoutPairing(read.handle), for: .modalias)
        }
    }

    /// Sets the property `Modalias` to the identity in a PnP ID; an invalid PnP ID is ignored.
    mutating func setModalias(_ value: [UInt8], of peer: PeerIdentifier) {
        guard let path = devices[peer]?.path, let text = Self.modalias(value) else { return }
        tree.set(path, BlueZ.device, "Modalias", .string(text))
    }

    /// Returns a PnP ID in the form in which the kernel names devices; `nil` if it is too short, or if its numbers are
    /// neither from the Bluetooth SIG nor from the USB Implementers Forum.
    ///
    /// Device Information Service 1.2, 3.9; GATT Specification Supplement, PnP ID.
    static func modalias(_ value: [UInt8]) -> String? {
        guard value.count >= 7, let source = [1: "bluetooth", 2: "usb"][value[0]] else { return nil }
        let numbers = [2, 4, 6].map { [value[$0], value[$0 - 1]].hexadecimal.uppercased() }
        return "\(source):v\(numbers[0])p\(numbers[1])d\(numbers[2])"
    }
}
