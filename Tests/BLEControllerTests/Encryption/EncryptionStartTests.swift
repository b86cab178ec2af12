import BLEController
import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 5.1.3.1.
@Suite("Starting encryption")
struct EncryptionStartTests {
    typealias Linked = LinkProcedureTests.Linked

    @Test("The peripheral's host is asked for the key, and then both hosts receive the encryption event")
    func start() throws {
        var linked = try Linked()
        #expect(linked.enableEncryption(random: 0x1122_3344_5566_7788, diversifier: 0x99AA) == .success)
        #expect(linked.giveKey(Linked.key) == .success)
        let request = HCI.LELongTermKeyRequest(
            handle: linked.handle(1),
            random: 0x1122_3344_5566_7788,
            diversifier: 0x99AA
        )
        #expect(linked.keyRequests == [request])
        #expect(linked.encryptionEvents(0).isEmpty && linked.encryptionEvents(1).isEmpty)
        linked.bench.run(for: .seconds(1))
        for board in [0, 1] { #expect(linked.encryptionEvents(board) == [linked.encrypted(board)]) }
        for board in [0, 1] {
            linked.bench.send([1, 2, 3, UInt8(board)], on: linked.handle(board), board)
            linked.bench.run(for: .milliseconds(200))
            #expect(linked.bench.received(1 - board, linked.handle(1 - board)) == [1, 2, 3, UInt8(board)])
        }
    }

    @Test(
        "Without a key, the central's host receives the error and the link continues unencrypted",
        arguments: [true, false]
    )
    func keyMissing(isMasked: Bool) throws {
        var linked = try Linked()
        if isMasked { linked.bench.send(.leSetEventMask(.init(mask: [.connectionComplete])), 1) }
        #expect(linked.enableEncryption() == .success)
        if !isMasked { #expect(linked.giveKey(nil) == .success) }
        linked.bench.run(for: .seconds(1))
        #expect(linked.encryptionEvents(0) == [linked.failed(.pinOrKeyMissing)])
        #expect(linked.encryptionEvents(1).isEmpty)
        linked.bench.send([9, 9], on: linked.handle(0), 0)
        linked.bench.run(for: .milliseconds(200))
        #expect(linked.bench.received(1, linked.handle(1)) == [9, 9])
        linked.bench.send(.leSetEventMask(.init(mask: .init(wire: .max))), 1)
        linked.encrypt()
        #expect(linked.encryptionEvents(0).last == linked.encrypted(0))
    }

    @Test("A procedure that the peripheral's host starts during a key request begins once the host has no key")
    func waiting() throws {
        var linked = try Linked()
        #expect(linked.enableEncryption() == .success)
        linked.bench.run(for: .milliseconds(200))
        #expect(linked.keyRequests.count == 1)
        let handle = linked.handle(1)
        #expect(linked.bench.ask(.leReadRemoteFeatures(.init(handle: handle)), 1) == .success)
        #expect(linked.bench.ask(.leLongTermKeyRequestNegativeReply(.init(handle: handle)), 1) == .success)
        linked.bench.run(for: .seconds(2))
        let expected = HCI.LEReadRemoteFeaturesComplete(
            status: .success,
            handle: handle,
            features: ControllerIdentity.Profile.core5.features
        )
        #expect(linked.bench.events(1).contains(.leReadRemoteFeaturesComplete(expected)))
        #expect(linked.encryptionEvents(0) == [linked.failed(.pinOrKeyMissing)])
    }

    static let simple = ControllerIdentity.Profile(version: 0x06, features: [])

    @Test(
        "A peripheral that cannot encrypt rejects the request",
        arguments: [ControllerIdentity.Profile.core5, simple]
    )
    func unsupported(profile: ControllerIdentity.Profile) throws {
        var features = profile.features
        features.remove(.encryption)
        var linked = try Linked(.core5, .init(version: profile.version, features: features))
        linked.bench.send(.leReadRemoteFeatures(.init(handle: linked.handle(0))), 0)
        #expect(linked.enableEncryption() == .success)
        linked.bench.run(for: .seconds(1))
        #expect(linked.encryptionEvents(0) == [linked.failed(.unsupportedRemoteFeature)])
        #expect(linked.bench.ending(0, linked.handle(0)) == nil)
    }

    @Test("Mismatched keys end the link at the first encrypted packet", arguments: UInt64(0)..<16)
    func wrongKey(seed: UInt64) throws {
        var linked = try Linked(seed: seed)
        linked.bench.air.conditions.loss = 0.2
        linked.encrypt(answer: Key128(wire: 1))
        linked.bench.run(for: .seconds(3))
        #expect(linked.bench.ending(1, linked.handle(1)) == .micFailure)
        #expect(linked.bench.ending(0, linked.handle(0)) == .connectionTimeout)
        for board in [0, 1] { #expect(linked.encryptionEvents(board).isEmpty) }
    }

    @Test("A central gives up after forty seconds if the peripheral's host does not answer the key request")
    func responseTimeout() throws {
        var linked = try Linked()
        let start = linked.bench.now
        #expect(linked.enableEncryption() == .success)
        linked.bench.run(for: .seconds(45))
        #expect(linked.keyRequests.count == 1)
        #expect(linked.bench.ending(0, linked.handle(0)) == .linkLayerResponseTimeout)
        #expect(linked.bench.said[0].last?.instant == start + .seconds(40))
        #expect(linked.bench.ending(1, linked.handle(1)) == .connectionTimeout)
    }

    @Test("Only a central starts encryption, and only a host that was asked for a key can supply one")
    func disallowed() throws {
        var linked = try Linked()
        let key = Linked.key, own = linked.handle(1), other = try #require(ConnectionHandle(wire: 0x0777))
        let enable = HCI.LEEnableEncryption(handle: own, random: 0, diversifier: 0, key: key)
        #expect(linked.bench.ask(.leEnableEncryption(enable), 1) == .commandDisallowed)
        for (handle, status) in [(own, HCI.Status.commandDisallowed), (other, .unknownConnectionIdentifier)] {
            #expect(linked.bench.ask(.leLongTermKeyRequestReply(.init(handle: handle, key: key)), 1) == status)
            #expect(linked.bench.ask(.leLongTermKeyRequestNegativeReply(.init(handle: handle)), 1) == status)
        }
        let unknown = HCI.LEEnableEncryption(handle: other, random: 0, diversifier: 0, key: key)
        #expect(linked.bench.ask(.leEnableEncryption(unknown), 0) == .unknownConnectionIdentifier)
        linked.encrypt()
        #expect(linked.bench.ask(.leLongTermKeyRequestReply(.init(handle: own, key: key)), 1) == .commandDisallowed)
        #expect(linked.encryptionEvents(1) == [linked.encrypted(1)])
    }

    @Test("A host without key size events receives the legacy encryption event")
    func olderForm() throws {
        var linked = try Linked(.legacyOnly, .core5)
        for board in [0, 1] { linked.bench.send(.setEventMaskPage2(.init(mask: .none)), board) }
        linked.encrypt()
        for board in [0, 1] {
            let event = HCI.EncryptionChange(status: .success, handle: linked.handle(board), encryption: .on)
            #expect(linked.encryptionEvents(board) == [.encryptionChange(event)])
        }
    }

    @Test("A host can disconnect while the link is being encrypted", arguments: [0, 1])
    func leaving(board: Int) throws {
        var linked = try Linked()
        #expect(linked.enableEncryption() == .success)
        linked.bench.run(for: .milliseconds(100))
        #expect(linked.keyRequests.count == 1)
        let handle = linked.handle(board)
        linked.bench.send(.disconnect(.init(handle: handle, reason: .remoteUserTerminatedConnection)), board)
        linked.bench.run(for: .seconds(2))
        #expect(linked.bench.ending(board, handle) == .connectionTerminatedByLocalHost)
        let other = 1 - board
        #expect(linked.bench.ending(other, linked.handle(other)) == .remoteUserTerminatedConnection)
    }
}
