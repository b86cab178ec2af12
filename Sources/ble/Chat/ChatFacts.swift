import BLERuntime
import CoreBluetooth

extension ChatHost.Event {
    /// The fact for people and scripts; the room's name goes into JSON as `"who"`.
    func fact(of name: String) -> Fact {
        switch self {
        case .opened: Fact("opened", ["who": name], text: "\(name): the room is open")
        case .subscribed(let guest, let guests):
            Fact(
                "joined",
                ["who": name, "guest": guest.uuidString, "guests": guests],
                text: "\(name): a guest joined (\(guests) here)"
            )
        case .left(let guest, let guests):
            Fact(
                "gone",
                ["who": name, "guest": guest.uuidString, "guests": guests],
                text: "\(name): a guest left (\(guests) here)"
            )
        case .said(let guest?, let line):
            Fact("heard", ["who": name, "guest": guest.uuidString, "text": line], text: "\(name): \(line.printable)")
        case .said(nil, let line): Fact("said", ["who": name, "text": line], text: "\(name): \(line.printable)")
        case .radioChanged(let change): change.fact
        case .failed(let trouble):
            Fact("failed", ["who": name, "error": "\(trouble)"], text: "\(name): \(trouble)")
        }
    }
}

extension ChatGuest.Event {
    /// The fact for people and scripts; the guest's name goes into JSON as `"who"`.
    func fact(of name: String) -> Fact {
        switch self {
        case .ready: Fact("ready", ["who": name], text: "")
        case .radioChanged(let change): change.fact
        case .discovered(let room):
            Fact(
                "discovered",
                [
                    "who": name, "name": room.name, "identifier": room.peripheral.identifier.uuidString,
                    "rssi": room.rssi, "services": room.services.map(\.uuidString),
                ],
                text: "\(name): discovered “\(room.name.printable)” (\(room.rssi) dBm)"
            )
        case .connected(let room):
            Fact("connected", ["who": name, "name": room.name], text: "\(name): connected to \(room.name.printable)")
        case .subscribed(let room):
            Fact("subscribed", ["who": name, "name": room.name], text: "\(name): listens to \(room.name.printable)")
        case .wrote(let text): Fact("wrote", ["who": name, "text": text], text: "\(name): wrote “\(text.printable)”")
        case .received(let line):
            Fact("received", ["who": name, "text": line], text: "\(name): received “\(line.printable)”")
        case .left(let room, let error):
            Fact(
                "left",
                ["who": name, "name": room.name, "error": error.map { ($0 as NSError).localizedDescription } ?? ""],
                text: "\(name): left \(room.name.printable)\(error == nil ? "" : " (the connection was lost)")"
            )
        case .failed(let trouble):
            Fact("failed", ["who": name, "error": "\(trouble)"], text: "\(name): \(trouble)")
        }
    }
}
