//! A little generated music: the same tunes in different timbres, so that one hears which source plays.

use std::f32::consts::TAU;

/// How a source sounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timbre {
    /// Soft and sustained.
    Organ,
    /// Hollow, as from an old game.
    Chip,
    /// Plucked.
    Harp,
}

/// One piece of music, as notes.
#[derive(Clone, Debug)]
pub(super) struct Tune {
    pub(super) title: &'static str,
    /// Root of the scale, as a MIDI note.
    root: u8,
    bars: u32,
    /// Steps of the scale that the chords are built on, one a bar.
    chords: [usize; 4],
    seed: u32,
}

/// A bar lasts 2.5 seconds: four beats at 96 a minute.
const BAR: f32 = 2.5;
/// For the last notes to fade.
const TAIL: u32 = 2;
const MAJOR: [u8; 7] = [0, 2, 4, 5, 7, 9, 11];
const TABLE: usize = 2048;
/// What is left of a phase after the bits that choose among [`TABLE`].
const TURN: u32 = 21;
/// Samples between two looks at the envelope.
const BLOCK: usize = 32;

/// The albums of the demo.
pub(super) const ALBUMS: [(&str, i32, [Tune; 4]); 2] = [
    (
        "First Light",
        2023,
        [
            tune("Morning, Slowly", 60, 8, [0, 5, 3, 4], 7),
            tune("Paper Boats", 65, 10, [0, 4, 5, 3], 21),
            tune("Window Seat", 62, 8, [5, 3, 0, 4], 35),
            tune("Home by Evening", 57, 12, [0, 3, 0, 4], 48),
        ],
    ),
    (
        "Second Wind",
        2025,
        [
            tune("Uphill", 64, 10, [5, 4, 3, 4], 53),
            tune("The Long Bridge", 59, 8, [0, 2, 3, 4], 66),
            tune("Lanterns", 61, 10, [0, 5, 1, 4], 74),
            tune("Downstream", 55, 12, [3, 4, 0, 5], 89),
        ],
    ),
];

const fn tune(title: &'static str, root: u8, bars: u32, chords: [usize; 4], seed: u32) -> Tune {
    Tune {
        title,
        root,
        bars,
        chords,
        seed,
    }
}

impl Tune {
    /// Length in seconds. Every bar pair is five seconds, so it is whole.
    pub(super) fn seconds(&self) -> u32 {
        self.bars * 5 / 2 + TAIL
    }

    /// Plays the tune: mono samples.
    pub(super) fn render(&self, timbre: Timbre, rate: u32) -> Vec<i16> {
        let wave = timbre.wave();
        let mut sound = vec![0.0_f32; (self.seconds() * rate) as usize];
        for note in self.notes() {
            note.play(&wave, timbre, rate, &mut sound);
        }
        echo(&mut sound, rate);
        let peak = sound
            .iter()
            .fold(0.001_f32, |peak, sample| peak.max(sample.abs()));
        sound
            .iter()
            .map(|sample| (sample / peak * 0.7 * f32::from(i16::MAX)) as i16)
            .collect()
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        let mut dice = self.seed;
        let mut step = 4_i32;
        for bar in 0..self.bars {
            let at = bar as f32 * BAR;
            let chord = self.chords[bar as usize % 4];
            notes.push(self.note(chord, -2, at, BAR * 0.95, 0.5));
            for third in [0, 2, 4] {
                notes.push(self.note(chord + third, -1, at, BAR * 0.9, 0.16));
            }
            let is_last = bar + 1 == self.bars;
            for beat in 0..if is_last { 1 } else { 4 } {
                dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let roll = dice >> 24;
                // Strong beats belong to the chord; between them the melody walks.
                step = match (beat % 2, is_last) {
                    (_, true) => 7,
                    (0, _) => nearest(step, chord as i32 + [0, 2, 4, 7][(roll % 4) as usize]),
                    _ => (step + [-2, -1, 1, 2][(roll % 4) as usize]).clamp(0, 11),
                };
                let start = at + beat as f32 * BAR / 4.0;
                let length = if is_last { BAR } else { BAR / 4.0 * 1.1 };
                notes.push(self.note(step as usize, 0, start, length, 0.6));
            }
        }
        notes
    }

    fn note(&self, step: usize, octave: i32, at: f32, seconds: f32, volume: f32) -> Note {
        let octaves = octave + (step / 7) as i32;
        let pitch = i32::from(self.root) + i32::from(MAJOR[step % 7]) + 12 * octaves;
        Note {
            hertz: 440.0 * 2.0_f32.powf((pitch - 69) as f32 / 12.0),
            at,
            seconds,
            volume,
        }
    }
}

/// The step nearest to where the melody is, an octave up or down.
fn nearest(from: i32, to: i32) -> i32 {
    let candidates = [to - 7, to, to + 7]
        .into_iter()
        .filter(|step| (0..=11).contains(step));
    candidates
        .min_by_key(|step| (step - from).abs())
        .unwrap_or(to.clamp(0, 11))
}

struct Note {
    hertz: f32,
    at: f32,
    seconds: f32,
    volume: f32,
}

impl Note {
    fn play(&self, wave: &[f32], timbre: Timbre, rate: u32, sound: &mut [f32]) {
        let rate = rate as f32;
        let first = (self.at * rate) as usize;
        let count = ((self.seconds + timbre.ring()) * rate) as usize;
        let end = (first + count).min(sound.len());
        // A whole turn is 2^32: it wraps by itself, and the top bits are the place in the table.
        let stride = (f64::from(self.hertz) / f64::from(rate) * 4_294_967_296.0) as u32;
        let mut phase = 0_u32;
        let mut gain = 0.0_f32;
        for (block, samples) in sound[first.min(end)..end].chunks_mut(BLOCK).enumerate() {
            let at = ((block + 1) * BLOCK) as f32 / rate;
            let target = timbre.envelope(at, self.seconds) * self.volume;
            let slope = (target - gain) / BLOCK as f32;
            for sample in samples {
                gain += slope;
                *sample += wave[(phase >> TURN) as usize] * gain;
                phase = phase.wrapping_add(stride);
            }
        }
    }
}

impl Timbre {
    /// One period.
    fn wave(self) -> Vec<f32> {
        let harmonics: &[(f32, f32)] = match self {
            Timbre::Organ => &[(1.0, 1.0), (2.0, 0.5), (3.0, 0.25), (4.0, 0.2), (6.0, 0.08)],
            Timbre::Chip => &[
                (1.0, 1.0),
                (3.0, 0.33),
                (5.0, 0.2),
                (7.0, 0.14),
                (9.0, 0.11),
            ],
            Timbre::Harp => &[
                (1.0, 1.0),
                (2.0, 0.6),
                (3.0, 0.35),
                (4.0, 0.22),
                (5.0, 0.15),
                (7.0, 0.06),
            ],
        };
        let sample = |n: usize| {
            let angle = TAU * n as f32 / TABLE as f32;
            harmonics
                .iter()
                .map(|(harmonic, volume)| volume * (angle * harmonic).sin())
                .sum()
        };
        (0..TABLE).map(sample).collect()
    }

    /// Seconds that a note sounds after it has been let go.
    fn ring(self) -> f32 {
        match self {
            Timbre::Organ => 0.25,
            Timbre::Chip => 0.03,
            Timbre::Harp => 1.2,
        }
    }

    fn envelope(self, at: f32, held: f32) -> f32 {
        let released = ((at - held) / self.ring()).clamp(0.0, 1.0);
        match self {
            Timbre::Organ => (at / 0.08).min(1.0) * (1.0 - released),
            Timbre::Chip => {
                (at / 0.005).min(1.0) * (1.0 - 0.4 * (at / held).min(1.0)) * (1.0 - released)
            }
            Timbre::Harp => (at / 0.004).min(1.0) * (-3.0 * at).exp() * (1.0 - released),
        }
    }
}

fn echo(sound: &mut [f32], rate: u32) {
    let delay = (rate as f32 * 0.31) as usize;
    for n in delay..sound.len() {
        sound[n] += sound[n - delay] * 0.28;
    }
}

/// What a file says of itself.
pub(super) struct Tags<'a> {
    pub(super) artist: &'a str,
    pub(super) album: &'a str,
    pub(super) title: &'a str,
    pub(super) track: u32,
    pub(super) year: i32,
}

/// Samples as a WAV file with tags.
pub(super) fn wav(samples: &[i16], rate: u32, tags: &Tags<'_>) -> Vec<u8> {
    let mut info = b"INFO".to_vec();
    let (track, year) = (tags.track.to_string(), tags.year.to_string());
    let texts: [(&[u8; 4], &str); 5] = [
        (b"IART", tags.artist),
        (b"IPRD", tags.album),
        (b"INAM", tags.title),
        (b"ITRK", &track),
        (b"ICRD", &year),
    ];
    for (id, text) in texts {
        chunk(&mut info, id, &[text.as_bytes(), b"\0"].concat());
    }
    let mut format = Vec::new();
    format.extend_from_slice(&1_u16.to_le_bytes());
    format.extend_from_slice(&1_u16.to_le_bytes());
    format.extend_from_slice(&rate.to_le_bytes());
    format.extend_from_slice(&(rate * 2).to_le_bytes());
    format.extend_from_slice(&2_u16.to_le_bytes());
    format.extend_from_slice(&16_u16.to_le_bytes());
    let data: Vec<u8> = samples
        .iter()
        .flat_map(|sample| sample.to_le_bytes())
        .collect();
    let mut body = b"WAVE".to_vec();
    chunk(&mut body, b"fmt ", &format);
    chunk(&mut body, b"LIST", &info);
    chunk(&mut body, b"data", &data);
    let mut file = Vec::new();
    chunk(&mut file, b"RIFF", &body);
    file
}

fn chunk(out: &mut Vec<u8>, id: &[u8; 4], content: &[u8]) {
    out.extend_from_slice(id);
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    out.extend_from_slice(content);
    if content.len() % 2 == 1 {
        out.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u32 = 8000;

    #[test]
    fn a_tune_lasts_what_it_says_and_is_heard() {
        for (_, _, tunes) in &ALBUMS {
            for tune in tunes {
                assert!((20..=40).contains(&tune.seconds()), "{}", tune.title);
                let samples = tune.render(Timbre::Chip, RATE);
                assert_eq!(samples.len(), (tune.seconds() * RATE) as usize);
                let peak = samples.iter().map(|sample| sample.unsigned_abs()).max();
                assert!(
                    peak.is_some_and(|peak| (20_000..24_000).contains(&peak)),
                    "{peak:?}"
                );
            }
        }
    }

    #[test]
    fn timbres_and_tunes_differ() {
        let [one, two, ..] = &ALBUMS[0].2;
        let organ = one.render(Timbre::Organ, RATE);
        assert_ne!(organ, one.render(Timbre::Harp, RATE));
        assert_ne!(organ, two.render(Timbre::Organ, RATE));
    }

    #[test]
    fn the_files_are_well_formed() {
        let tags = Tags {
            artist: "A",
            album: "Odd",
            title: "T",
            track: 1,
            year: 2023,
        };
        let file = wav(&[1, -1, 2], RATE, &tags);
        let size = u32::from_le_bytes(file[4..8].try_into().unwrap());
        assert_eq!(size as usize, file.len() - 8);
        assert_eq!(&file[file.len() - 6..], [1, 0, 255, 255, 2, 0]);
    }
}
