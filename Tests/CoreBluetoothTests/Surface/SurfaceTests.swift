import BLEHost
import CoreBluetooth
import Testing

@Suite("Framework surface")
struct SurfaceTests {
    @Test("An app that uses the whole API runs through both roles")
    func everything() async {
        let link = ScriptedLink(), lines = Lines(), app = SurfaceApp()
        lines.collect(link) { app.start() }
        for session in link.sessions { await session.tell(.stateChanged(.poweredOn)) }
        #expect(app.isReady)
        #expect(link.sessions.map(\.role) == [.central, .central, .central, .peripheral, .peripheral, .peripheral])
        #expect(link.sessions.map(\.isClosed) == [true, true, false, true, true, false])
        #expect(app.describe(CBError(.connectionTimeout)) == "gone")
        #expect(app.describe(CBATTError(.insufficientAuthentication)) == "locked")
        #expect(app.describe(CBError(.operationCancelled) as NSError) == "cancelled")
    }
}
