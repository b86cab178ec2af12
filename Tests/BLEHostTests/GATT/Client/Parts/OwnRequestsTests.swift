import BLEWire
import Testing

@testable import BLEHost

@Suite("The host's own requests")
struct OwnRequestsTests {
    func at(_ milliseconds: Int) -> Instant { Instant() + .milliseconds(milliseconds) }

    @Test("Requests that clients wait for are sent before the clients' requests")
    func urgent() {
        var requests = OwnRequests()
        for request in [.readName, .checkCache, .exchangeMTU] as [OwnRequest] { requests.append(request) }
        let size = requests.nextUrgent(checksCache: false), nothing = requests.nextUrgent(checksCache: false)
        let cache = requests.nextUrgent(checksCache: true)
        #expect(size == .exchangeMTU && nothing == nil && cache == .checkCache)
        #expect(!requests.isEmpty && requests.deadline == nil, "the link is not ready")
    }

    @Test("Own requests wait until clients have been idle for a while, but not indefinitely")
    func patient() {
        var requests = OwnRequests()
        requests.allow(at: at(0))
        requests.append(.readName)
        requests.append(.watchServices)
        #expect(requests.deadline == at(250))
        requests.postpone(at: at(200))
        let early = requests.next(at: at(449)), none = requests.nextOverdue(at: at(449))
        #expect(early == nil && none == nil)
        let overdue = requests.nextOverdue(at: at(2_000)), next = requests.nextOverdue(at: at(2_001))
        #expect(overdue == .readName && next == nil, "one at a time")
        let calm = requests.next(at: at(2_001))
        #expect(calm == .watchServices && requests.deadline == nil)
    }

    @Test("A request is queued once, and dropped when its attribute is removed")
    func gone() {
        let handle = AttributeHandle(wire: 9)
        var requests = OwnRequests()
        requests.append(.reconfigure(handle))
        requests.append(.reconfigure(handle))
        requests.putFirst([.announceFeatures(handle), .probe(handle)])
        requests.append(.storeCache)
        requests.remove { $0.isAbout(AttributeHandleRange(handle, handle)!) }
        #expect(requests.contains(.storeCache))
        requests.allow(at: at(0))
        let last = requests.next(at: at(250))
        #expect(last == .storeCache && requests.isEmpty)
    }
}
