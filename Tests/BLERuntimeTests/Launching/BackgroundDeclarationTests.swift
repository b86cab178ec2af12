import BLEHost
import Testing

@testable import BLERuntime

@Suite("Background modes in the environment")
struct BackgroundDeclarationTests {
    @Test(
        "Without a declaration a process is in the foreground, and with one an undeclared role is suspended",
        arguments: [
            (nil, AppPhase.foreground, .foreground), ("", .suspended, .suspended),
            ("bluetooth-central", .background, .suspended), ("bluetooth-peripheral", .suspended, .background),
            ("bluetooth-central,bluetooth-peripheral", .background, .background),
            ("bluetooth-peripheral,bluetooth-central", .background, .background), ("audio", .suspended, .suspended),
        ] as [(String?, AppPhase, AppPhase)]
    )
    func phases(declared: String?, central: AppPhase, peripheral: AppPhase) {
        #expect(BackgroundDeclaration.phase(of: .central, declared: declared) == central)
        #expect(BackgroundDeclaration.phase(of: .peripheral, declared: declared) == peripheral)
    }
}
