import BLEHost
import BLEWire

/// The test suite's requests in progress that concern the attributes of peers.
///
/// The host's client must be connected to a peer before it can make requests. If the peer created the link, the client
/// connects to the peer, over the existing link, when the test suite makes the first request.
struct AttributeCalls {
    /// An action that the caller must perform.
    enum Step: Equatable {
        case sendLine(HostLine)
        case ask(ClientRequest)
    }

    private struct Call {
        let id: Int
        let link: RadioLink
        /// The request that the host is performing, or, if it is performing none, the next one to perform.
        var request: AttributeRequest
        var number = RequestNumber.none
        var discovery: Discovery?
    }

    /// The discovery of all services of a peer with their contents, service by service.
    fileprivate struct Discovery {
        var services: [DiscoveredService] = []
        var characteristics: [[DiscoveredCharacteristic]] = []
        var descriptors: [AttributeHandle: [DiscoveredDescriptor]] = [:]
    }

    /// The requests in progress, in order of arrival.
    private var calls: [Call] = []
    /// The peers to which the host's client is connected or connecting.
    private var joined: [(peer: PeerIdentifier, isConnected: Bool)] = []
    private var last = RequestNumber.none

    /// Starts a request from the test suite; returns the actions to perform.
    mutating func begin(_ call: HostCall, on link: RadioLink) throws -> [Step] {
        let discovery = call.name == "discover" ? Discovery() : nil
        calls.append(Call(id: call.id, link: link, request: try call.attributeRequest(), discovery: discovery))
        guard let state = joined.first(where: { $0.peer == link.peer }) else {
            joined.append((link.peer, false))
            return [.ask(.connect(link.peer, ConnectRequest()))]
        }
        return state.isConnected ? send(calls.count - 1) : []
    }

    /// Records that the host's client is connected to a peer; returns the actions that were waiting for the connection.
    mutating func connected(_ peer: PeerIdentifier) -> [Step] {
        joined.removeAll { $0.peer == peer }
        joined.append((peer, true))
        return calls.indices.filter { calls[$0].link.peer == peer && calls[$0].number == .none }.flatMap { send($0) }
    }

    /// Fails all requests to a peer, because the host's client could not connect to it, or has lost the connection.
    ///
    /// `failure` is the cause; `nil` if the client itself ended the connection.
    mutating func disconnected(_ peer: PeerIdentifier, _ failure: Failure?) -> [Step] {
        joined.removeAll { $0.peer == peer }
        let lost = calls.filter { $0.link.peer == peer }
        calls.removeAll { $0.link.peer == peer }
        return lost.map { .sendLine(.failure($0.id, "\(failure ?? .notConnected)")) }
    }

    /// Fails all requests, because all links are lost.
    mutating func lost(_ reason: String) -> [Step] {
        defer { (calls, joined, subscribed) = ([], [], [:]) }
        return calls.map { .sendLine(.failure($0.id, reason)) }
    }

    /// Processes an event from the host about a peer.
    ///
    /// `number` is the number of the request that the event answers; ``RequestNumber/none`` if it answers no request.
    mutating func receive(_ event: PeerEvent, of peer: PeerIdentifier, answering number: RequestNumber) -> [Step] {
        guard number == .none, case .valueNotified(let handle, let value) = event else {
            return answered(event, number)
        }
        guard let link = calls.last(where: { $0.link.peer == peer })?.link ?? subscribed[peer] else { return [] }
        let values: [String: HostLine.Value] = [
            "connection": .number(Int(link.handle.wire)), "handle": .number(Int(handle.wire)),
            "value": .text(value.hexadecimal),
        ]
        return [.sendLine(.event("notified", values))]
    }

    /// The links on which the client has subscribed to values, by peer.
    private var subscribed: [PeerIdentifier: RadioLink] = [:]

    private mutating func send(_ index: Int) -> [Step] {
        last = last.next
        calls[index].number = last
        let (call, request) = (calls[index], calls[index].request)
        if case .subscribe = request { subscribed[call.link.peer] = call.link }
        let step = Step.ask(.peer(call.link.peer, .attribute(request), last))
        guard request.isWriteCommand else { return [step] }
        calls.remove(at: index)
        return [step, .sendLine(.result(call.id))]
    }

    private mutating func answered(_ event: PeerEvent, _ number: RequestNumber) -> [Step] {
        guard number != .none, let index = calls.firstIndex(where: { $0.number == number }) else { return [] }
        switch event {
        case .valueRead(_, .success(let value)): return end(index, ["value": .text(value.hexadecimal)])
        case .valueWritten(_, nil), .subscriptionChanged(_, _, nil): return end(index)
        case .valueRead(_, .failure(let failure)), .valueWritten(_, let failure?),
            .subscriptionChanged(_, _, let failure?), .servicesDiscovered(.failure(let failure)),
            .characteristicsDiscovered(_, .failure(let failure)), .descriptorsDiscovered(_, .failure(let failure)):
            return fail(index, failure)
        case .servicesDiscovered(.success(let found)): calls[index].discovery?.services = found
        case .characteristicsDiscovered(_, .success(let found)): calls[index].discovery?.characteristics.append(found)
        case .descriptorsDiscovered(let handle, .success(let found)):
            calls[index].discovery?.descriptors[handle] = found
        default: return []
        }
        guard let discovery = calls[index].discovery else { return end(index) }
        guard let next = discovery.next else { return end(index, ["services": discovery.value]) }
        calls[index].request = next
        return send(index)
    }

    private mutating func end(_ index: Int, _ values: [String: HostLine.Value] = [:]) -> [Step] {
        [.sendLine(.result(calls.remove(at: index).id, values))]
    }

    private mutating func fail(_ index: Int, _ failure: Failure) -> [Step] {
        let reason =
            if case .att(let code) = failure { "ATT 0x\([code.wire].hexadecimal): \(code)" } else { "\(failure)" }
        return [.sendLine(.failure(calls.remove(at: index).id, reason))]
    }
}

extension AttributeCalls.Discovery {
    /// The next request of the discovery; `nil` if it is complete.
    fileprivate var next: AttributeRequest? {
        if let open = characteristics.last?.first(where: { descriptors[$0.value] == nil }) {
            return .discoverDescriptors(of: open.value, in: open.descriptorRange)
        }
        guard characteristics.count < services.count else { return nil }
        return .discoverCharacteristics(in: services[characteristics.count].range, only: [])
    }

    /// The discovered services in the form that test suites read.
    fileprivate var value: HostLine.Value {
        .list(
            zip(services, characteristics).map { service, characteristics in
                .object([
                    "uuid": .text("\(service.uuid)"), "start": .number(Int(service.range.start.wire)),
                    "end": .number(Int(service.range.end.wire)),
                    "characteristics": .list(characteristics.map { value(of: $0) }),
                ])
            }
        )
    }

    private func value(of characteristic: DiscoveredCharacteristic) -> HostLine.Value {
        let descriptors = descriptors[characteristic.value] ?? []
        return .object([
            "uuid": .text("\(characteristic.uuid)"), "handle": .number(Int(characteristic.value.wire)),
            "properties": .number(Int(characteristic.properties)), "end": .number(Int(characteristic.end.wire)),
            "descriptors": .list(
                descriptors.map {
                    .object(["uuid": .text("\($0.uuid)"), "handle": .number(Int($0.handle.wire))])
                }
            ),
        ])
    }
}

extension HostCall {
    /// Returns the request to the host that corresponds to this request from the test suite.
    fileprivate func attributeRequest() throws -> AttributeRequest {
        switch name {
        case "discover": return .discoverServices(only: [])
        case "read": return .read(try handle())
        case "write":
            let handle = try handle(), value = try octets("value")
            return try flag("response", otherwise: true) ? .write(handle, value) : .writeCommand(handle, value)
        default:
            let handle = try handle(), end = try number("end", in: 1...0xFFFF) ?? 0xFFFF
            let rest = AttributeHandleRange(handle, AttributeHandle(wire: UInt16(max(Int(handle.wire), end))))
            return .subscribe(try subscription(), to: handle, in: rest?.after(handle))
        }
    }

    private func handle() throws -> AttributeHandle {
        AttributeHandle(wire: UInt16(try neededNumber("handle", in: 1...0xFFFF)))
    }

    private func subscription() throws -> Subscription {
        switch try word("kind") ?? "notify" {
        case "notify": .notifications
        case "indicate": .indications
        case "none": .none
        default: throw InvalidInput("kind: expected notify, indicate or none")
        }
    }
}
