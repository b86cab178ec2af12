import BLERuntime
import Foundation
import Glibc
import Testing

@Suite("Examination of stored state", .timeLimit(.minutes(30)))
struct StateExaminationTests {
    @Test("A valid state is a fact, before and after it is created")
    func kept() async {
        let patient = Patient()
        #expect(await patient.examined().findings(.stateStored).first?.sentence.contains("will be created") == true)
        #expect(!FileManager.default.fileExists(atPath: patient.folder))
        patient.makeState()
        let after = await patient.examined()
        let sentence = after.findings(.stateStored).first?.sentence
        #expect(sentence?.contains("contains one known peer, which is not bonded") == true)
        #expect(after.count(of: .warning) == 0)
    }

    @Test("The remedy for a state that others can read makes it private", arguments: [0o644, 0o640, 0o602] as [mode_t])
    func notPrivate(mode: mode_t) async throws {
        let patient = Patient()
        patient.makeState()
        chmod(patient.statePath, mode)
        let before = await patient.examined()
        let finding = try #require(before.findings(.stateNotPrivate).first)
        #expect(finding.severity == .warning && !before.isObstructed)
        try patient.carryOut(try #require(finding.command))
        #expect(await patient.examined().count(of: .warning) == 0)
    }

    @Test("A damaged state can be set aside", arguments: ["nonsense", "{}", "{\"version\": 2}"])
    func damaged(text: String) async throws {
        let patient = Patient()
        patient.makeState()
        try Data(text.utf8).write(to: URL(filePath: patient.statePath))
        chmod(patient.statePath, 0o600)
        let finding = try #require(await patient.examined().findings(.stateDamaged).first)
        try patient.carryOut(try #require(finding.command))
        #expect(await patient.examined().count(of: .warning) == 0)
    }

    @Test("A state of a later version is reported, and the problem ends when the file is moved")
    func newer() async throws {
        let patient = Patient()
        patient.makeState()
        try Data("{\"version\": 99}".utf8).write(to: URL(filePath: patient.statePath))
        chmod(patient.statePath, 0o600)
        let finding = try #require(await patient.examined().findings(.stateNewer).first)
        #expect(finding.sentence.contains("99") && finding.cure?.contains("move the file") == true)
        try patient.carryOut("mv \(patient.statePath) \(patient.statePath).99")
        #expect(await patient.examined().count(of: .warning) == 0)
    }

    @Test("A lock held by another program is reported until it is released")
    func locked() async throws {
        let patient = Patient()
        patient.makeState()
        let lock = open(patient.statePath + ".lock", O_RDWR | O_CLOEXEC)
        try #require(flock(lock, LOCK_EX) == 0)
        let finding = try #require(await patient.examined().findings(.stateLocked).first)
        #expect(finding.sentence.contains("cannot be locked") && finding.cure?.contains("Another process") == true)
        close(lock)
        #expect(await patient.examined().count(of: .warning) == 0)
    }

    @Test("A state that the user may not read or replace is reported with the missing permission, until it is granted")
    func forbidden() async throws {
        try #require(getuid() == 0, "only root can become somebody who has no rights")
        await #expect(processExitsWith: .success) {
            let patient = Patient()
            patient.makeState()
            let folder = patient.folder + "/corebluetooth"
            for file in [patient.folder, folder, patient.statePath, patient.statePath + ".lock"] {
                chown(file, 65_534, 65_534)
            }
            for (file, mode) in [(patient.statePath, mode_t(0)), (folder, 0o500)] {
                chmod(file, mode)
                seteuid(65_534)
                let before = await patient.examined()
                let finding = try #require(before.findings(.stateUnusable).first)
                let command = try #require(finding.command)
                try #require(command.hasPrefix("chmod u+rw") && command.hasSuffix(file) && !before.isObstructed)
                seteuid(0)
                try patient.carryOut(command)
                seteuid(65_534)
                try #require(await patient.examined().count(of: .warning) == 0)
                seteuid(0)
            }
        }
    }
}
