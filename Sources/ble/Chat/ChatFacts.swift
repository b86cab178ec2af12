import BLERuntime
import CoreBluetooth

extension ChatHost.Event {
    /// Returns the output for the event: text for users, and JSON for scripts.
    ///
    /// In JSON, the key `"who"` holds the room's name.
    func fact(of name: String) -> Fact {
        switch self {
        case .opened: Fact("opened", ["who": name], text: "\(name): the room is open")
        case .subscribed(let guest, let guests):
            Fact(
                "joined",
                ["who": name, "identifier": guest.uuidString, "guest": guest.uuidString, "guests": guests],
                text: "\(name): a guest joined (\(guests) here)"
            )
        case .left(let guest, let guests):
            Fact(
                "gone",
                ["who": name, "identifier": guest.uuidString, "guest": guest.uuidString, "guests": guests],
                text: "\(name): a guest left (\(guests) here)"
            )
        case .said(let guest?, let line):
            Fact(
                "heard",
                ["who": name, "identifier": guest.uuidString, "guest": guest.uuidString, "text": line],
                text: "\(name): \(line.printable)"
            )
        case .said(nil, let line): Fact("said", ["who": name, "text": line], text: "\(name): \(line.printable)")
        case .radioChanged(let change): change.fact
        case .failed(let trouble):
            Fact("failed", ["who": name, "error": "\(trouble)"], text: "\(name): \(trouble)")
        }
    }
}

extension ChatGuest.Event {
    /// Returns the output for the event: text for users, and JSON for scripts.
    ///
    /// In JSON, the key `"who"` holds the guest's name.
    ///
    /// - Parameters:
    ///   - name: The guest's name.
    ///   - room: The room that the guest has joined; `nil` for none. JSON contains the room's device or, if the event
    ///     is about another room, that room's device.
    /// - Returns: The output to print.
    func fact(of name: String, in room: ChatGuest.Room? = nil) -> Fact {
        let fact = fact(ofGuest: name)
        guard let room = self.room ?? room else { return fact }
        let device = DeviceKeys(room.peripheral.identifier, name: room.name).fields
        return Fact(fact.event, fact.fields.merging(device) { own, _ in own }, text: fact.text)
    }

    /// The room that this event is about; `nil` if it is not about a particular room.
    private var room: ChatGuest.Room? {
        switch self {
        case .discovered(let room), .connected(let room), .subscribed(let room), .left(let room, _): room
        case .ready, .wrote, .received, .radioChanged, .failed: nil
        }
    }

    private func fact(ofGuest name: String) -> Fact {
        switch self {
        case .ready: Fact("ready", ["who": name], text: "")
        case .radioChanged(let change): change.fact
        case .discovered(let room):
            Fact(
                "discovered",
                [
                    "who": name, "rssi": room.rssi, "services": room.services.map(\.uuidString),
                ],
                text: "\(name): discovered “\(room.name.printable)” (\(room.rssi) dBm)"
            )
        case .connected(let room):
            Fact("connected", ["who": name], text: "\(name): connected to \(room.name.printable)")
        case .subscribed(let room):
            Fact("subscribed", ["who": name], text: "\(name): subscribed to \(room.name.printable)")
        case .wrote(let text): Fact("wrote", ["who": name, "text": text], text: "\(name): wrote “\(text.printable)”")
        case .received(let line):
            Fact("received", ["who": name, "text": line], text: "\(name): received “\(line.printable)”")
        case .left(let room, let error):
            Fact(
                "left",
                ["who": name, "error": error.map { ($0 as NSError).localizedDescription } ?? ""],
                text: "\(name): left \(room.name.printable)\(error == nil ? "" : " (the connection was lost)")"
            )
        case .failed(let trouble):
            Fact("failed", ["who": name, "error": "\(trouble)"], text: "\(name): \(trouble)")
        }
    }
}
