import BLEWire
import Testing

@testable import BLEHost

@Suite("A server that requires a more secure link")
struct RefusedForSecurityTests {
    let handle = AttributeHandle(wire: 7)

    /// A client's side of a link of which it is not known yet whether it can be trusted further.
    func makeLayer() -> LoneLayer {
        var lone = LoneLayer(role: .peripheral)
        lone.layer.attach(LoneLayer.app, to: LoneLayer.link)
        _ = lone.sent()
        lone.security = nil
        return lone
    }

    static let codes: [(octet: String, code: ATT.ErrorCode)] = [
        ("05", .insufficientAuthentication), ("0f", .insufficientEncryption),
    ]

    @Test("A refused request is repeated once the link is secure, and no other is sent in between", arguments: codes)
    func again(octet: String, code: ATT.ErrorCode) {
        var lone = makeLayer()
        #expect(lone.perform(.read(handle)) == [[UInt8]("0a 0700")])
        #expect(lone.answers(to: [UInt8]("01 0a 0700 \(octet)")) == [])
        #expect(lone.refusals == [code] && lone.peerEvents() == [])
        #expect(lone.perform(.write(handle, [1])) == [])
        #expect(lone.perform(.writeCommand(handle, [2])) == [])
        lone.layer.secure(LoneLayer.link, .key(.encrypted))
        lone.layer.securityAnswered(LoneLayer.link, .secured, at: lone.now)
        #expect(lone.sent() == [[UInt8]("0a 0700")])
        #expect(lone.answers(to: [UInt8]("0b 2a")) == [[UInt8]("12 0700 01"), [UInt8]("52 0700 02")])
        #expect(lone.peerEvents() == [.valueRead(handle, .success([42]))])
    }

    @Test("The error is reported if the link cannot be secured, whatever was requested", arguments: codes)
    func refused(octet: String, code: ATT.ErrorCode) {
        var lone = makeLayer()
        _ = lone.perform(.write(handle, [1]))
        _ = lone.answers(to: [UInt8]("01 12 0700 \(octet)"))
        lone.layer.securityAnswered(LoneLayer.link, .refused(nil), at: lone.now)
        #expect(lone.sent() == [])
        #expect(lone.peerEvents() == [.valueWritten(handle, .att(code))])
    }

    @Test("A read without pairing fails, and the security of the link is not raised", arguments: codes)
    func withoutPairing(octet: String, code: ATT.ErrorCode) {
        var lone = makeLayer()
        #expect(lone.perform(.readWithoutPairing(handle)) == [[UInt8]("0a 0700")])
        #expect(lone.perform(.read(handle)) == [])
        #expect(lone.answers(to: [UInt8]("01 0a 0700 \(octet)")) == [[UInt8]("0a 0700")])
        #expect(lone.refusals == [])
        #expect(lone.peerEvents() == [.valueRead(handle, .failure(.att(code)))])
        #expect(lone.answers(to: [UInt8]("0b 2a")) == [])
        #expect(lone.peerEvents() == [.valueRead(handle, .success([42]))])
    }

    @Test("A more specific failure is reported instead of the server's error")
    func reason() {
        var lone = makeLayer()
        _ = lone.perform(.read(handle))
        _ = lone.answers(to: [UInt8]("01 0a 0700 05"))
        lone.layer.securityAnswered(LoneLayer.link, .refused(.encryptionTimedOut), at: lone.now)
        #expect(lone.sent() == [])
        #expect(lone.peerEvents() == [.valueRead(handle, .failure(.encryptionTimedOut))])
    }

    @Test("The request is repeated immediately if the link became more secure in between")
    func late() {
        var lone = makeLayer()
        _ = lone.perform(.read(handle))
        lone.layer.secure(LoneLayer.link, .key(.encrypted))
        #expect(lone.answers(to: [UInt8]("01 0a 0700 05")) == [[UInt8]("0a 0700")])
        #expect(lone.refusals == [])
    }

    @Test("A second refusal asks for more security, but not indefinitely")
    func twice() {
        var lone = makeLayer()
        _ = lone.perform(.read(handle))
        _ = lone.answers(to: [UInt8]("01 0a 0700 05"))
        lone.layer.secure(LoneLayer.link, .key(.encrypted))
        lone.layer.securityAnswered(LoneLayer.link, .secured, at: lone.now)
        _ = lone.sent()
        #expect(lone.answers(to: [UInt8]("01 0a 0700 05")) == [])
        #expect(lone.refusals.count == 2)
        lone.layer.securityAnswered(LoneLayer.link, .refused(nil), at: lone.now)
        #expect(lone.sent() == [])
        #expect(lone.peerEvents() == [.valueRead(handle, .failure(.att(.insufficientAuthentication)))])
    }

    @Test("The request is answered if the link ends or the app leaves first", arguments: [true, false])
    func ended(byLink: Bool) {
        var lone = makeLayer()
        _ = lone.perform(.read(handle))
        _ = lone.answers(to: [UInt8]("01 0a 0700 05"))
        if byLink {
            lone.layer.linkDown(LoneLayer.link, failure: .notConnected, at: lone.now)
        } else {
            lone.layer.detach(LoneLayer.app, from: LoneLayer.link, at: lone.now)
        }
        _ = lone.sent()
        #expect(lone.peerEvents() == [.valueRead(handle, .failure(byLink ? .notConnected : .cancelled))])
        lone.layer.securityAnswered(LoneLayer.link, .secured, at: lone.now)
        #expect(lone.sent().isEmpty)
    }
}
