import BLEHost
import BLESession
import BLEWire
import Testing

// The acknowledgement of requests by the daemon.
extension ConversationTests {
    @Test("Reads are acknowledged together after 64 of them, and other requests immediately")
    func acknowledgements() throws {
        var (_, daemon) = pair()
        let read = ClientRequest.peer(Self.peer, .attribute(.read(AttributeHandle(wire: 3))))
        let last = DaemonConversation.mostUnacknowledged
        for number in 1...last {
            send([.request(number, read)], to: &daemon)
            #expect(asked(of: &daemon) == [read])
            #expect(try answers(of: &daemon) == (number == last ? [.taken(last)] : []))
        }
        send([.request(last + 1, read), .request(last + 2, .stopScan)], to: &daemon)
        #expect(asked(of: &daemon) == [read, .stopScan])
        #expect(try answers(of: &daemon) == [.taken(last + 2)])
    }

    @Test("Each request of an app with an earlier protocol version is acknowledged immediately")
    func immediateAcknowledgements() throws {
        var daemon = DaemonConversation(), hello = Hello()
        hello.versions = Versions(oldest: 1, newest: 4)
        send([.hello(hello)], to: &daemon)
        #expect(daemon.takeAction() == .open(hello))
        daemon.welcome()
        _ = try answers(of: &daemon)
        let read = ClientRequest.peer(Self.peer, .attribute(.read(AttributeHandle(wire: 3))))
        send([.request(1, read)], to: &daemon)
        #expect(asked(of: &daemon) == [read])
        #expect(try answers(of: &daemon) == [.taken(1)])
    }
}
