import BLEWire

/// The values that a device sent, divided into those that followed a write and those that it sent by itself.
///
/// A value follows a write if it was sent at most a second after the write. If all values of a characteristic followed
/// writes, they are answers to these writes. Otherwise, all values of the characteristic count as sent by the device
/// itself.
struct Replies {
    private static let window = Duration.seconds(1)
    private static let mostValues = 256

    /// A written value, and the values that followed each of its writes.
    private struct Command {
        let handle: UInt16
        let written: [UInt8]
        var replies: [[AttributeTable.Transfer]]
        var delays: [Int]
        var isConstant: Bool {
            replies.allSatisfy { reply in
                reply.count == replies[0].count
                    && zip(reply, replies[0]).allSatisfy { $0.handle == $1.handle && $0.value == $1.value }
            }
        }
    }

    private var commands: [Command] = []
    private let sent: [AttributeTable.Transfer]

    /// The number of written values that had different answers at different times.
    var variable: Int { commands.count { !$0.isConstant } }

    /// Divides the transfers of a device.
    ///
    /// - Parameters:
    ///   - transfers: The writes and values, in order of time.
    ///   - attributes: The known attributes. Writes to descriptors are not commands.
    init(_ transfers: [AttributeTable.Transfer], of attributes: [AttributeTable.Attribute]) {
        let descriptors = Set(
            attributes.filter { attribute in
                attribute.type.map { AssignedNames.descriptor($0) != nil } ?? false
            }.map(\.handle)
        )
        var writes: [AttributeTable.Transfer] = [], followers: [[AttributeTable.Transfer]] = []
        var spontaneous: Set<UInt16> = []
        for transfer in transfers {
            if transfer.isWrite {
                guard !descriptors.contains(transfer.handle) else { continue }
                writes.append(transfer)
                followers.append([])
            } else if let last = writes.last, transfer.time - last.time <= Self.window {
                followers[writes.count - 1].append(transfer)
            } else {
                spontaneous.insert(transfer.handle)
            }
        }
        sent = transfers.filter { !$0.isWrite && spontaneous.contains($0.handle) }
        var places: [[UInt8]: [Int]] = [:]
        for (write, follower) in zip(writes, followers) {
            let reply = follower.filter { !spontaneous.contains($0.handle) }
            if let place = places[write.value]?.first(where: { commands[$0].handle == write.handle }) {
                commands[place].replies.append(reply)
            } else {
                places[write.value, default: []].append(commands.count)
                let delays = reply.map { Int(($0.time - write.time) / .milliseconds(1)) }
                commands.append(.init(handle: write.handle, written: write.value, replies: [reply], delays: delays))
            }
        }
    }

    /// Returns the values of a characteristic that the device sent by itself; `nil` if there are none.
    func notifications(of handle: UInt16) -> CapturedDevice.Notifications? {
        let own = sent.filter { $0.handle == handle }.prefix(Self.mostValues), values = own.map(\.value)
        guard !values.isEmpty else { return nil }
        let gaps = zip(own.dropFirst(), own).map { Int(($0.time - $1.time) / .milliseconds(1)) }.sorted()
        let cycle = (1...values.count).first { length in
            length * 2 <= values.count && values.indices.allSatisfy { values[$0] == values[$0 % length] }
        }
        let interval = gaps.isEmpty ? 1_000 : min(max(gaps[gaps.count / 2], 1), 86_400_000)
        return .init(interval: interval, values: Array(values.prefix(cycle ?? values.count)))
    }

    /// Returns the values that always followed writes to a characteristic.
    ///
    /// - Parameters:
    ///   - handle: The handle of the written value.
    ///   - type: Returns the type of the characteristic whose value has the given handle; `nil` if it is unknown.
    /// - Returns: The answers, in the order in which the values were first written.
    func answers(to handle: UInt16, type: (UInt16) -> BluetoothUUID?) -> [CapturedDevice.Answer] {
        commands.filter { $0.handle == handle && $0.isConstant }.flatMap { command in
            zip(command.replies[0], command.delays).compactMap { reply, delay in
                type(reply.handle).map {
                    .init(written: command.written, value: reply.value, characteristic: $0, delay: max(0, delay))
                }
            }
        }
    }
}
